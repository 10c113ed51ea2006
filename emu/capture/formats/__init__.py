"""Capture files as a stream: pcap, pcapng, the frames in them, and what is told of both."""
