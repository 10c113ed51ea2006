"""Capture files as a stream: pcap, pcapng, and the frames in them."""
