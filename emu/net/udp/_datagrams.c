/* Many datagrams with one system call: recvmmsg and sendmmsg for the UDP shell.

   Optional: emu.net.udp.datagrams does the same one by one where this is not built. Knows
   addresses and bytes only; sockets do not block. Linux has these calls, and so have the BSDs. */

#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define MOST 64
#define LONGEST 4096
#define USUAL 512
#define LEAST 128 /* it is the number of datagrams that takes time, not their bytes */

/* Return (host, port) of an IPv4 or IPv6 address. */
static PyObject *
address_object(const struct sockaddr_storage *from)
{
    char host[INET6_ADDRSTRLEN];
    const void *number;
    int port;

    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *plain = (const struct sockaddr_in *)from;
        number = &plain->sin_addr;
        port = ntohs(plain->sin_port);
    } else {
        const struct sockaddr_in6 *wide = (const struct sockaddr_in6 *)from;
        number = &wide->sin6_addr;
        port = ntohs(wide->sin6_port);
    }
    if (inet_ntop(from->ss_family, number, host, sizeof host) == NULL) {
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return Py_BuildValue("(si)", host, port);
}

/* receive(fd, bytes) -> list of (datagram, (host, port)): those that wait, up to about that many
   bytes, none when none do. Raises OSError for what is not a matter of waiting. */
static PyObject *
receive(PyObject *self, PyObject *args)
{
    static char buffers[MOST][LONGEST];
    struct mmsghdr messages[MOST];
    struct iovec vectors[MOST];
    struct sockaddr_storage from[MOST];
    int fd, wanted, full = 1;
    Py_ssize_t left;
    PyObject *found;

    (void)self;
    if (!PyArg_ParseTuple(args, "in", &fd, &left)) {
        return NULL;
    }
    found = PyList_New(0);
    while (found != NULL && left > 0 && full) {
        int count;

        /* As many as would fill what is left if each had the usual size of a full one. */
        wanted = left / USUAL + 1 < MOST ? (int)(left / USUAL) + 1 : MOST;
        memset(messages, 0, sizeof messages);
        for (int at = 0; at < wanted; at++) {
            vectors[at].iov_base = buffers[at];
            vectors[at].iov_len = LONGEST;
            messages[at].msg_hdr.msg_iov = &vectors[at];
            messages[at].msg_hdr.msg_iovlen = 1;
            messages[at].msg_hdr.msg_name = &from[at];
            messages[at].msg_hdr.msg_namelen = sizeof from[at];
        }
        count = recvmmsg(fd, messages, (unsigned)wanted, MSG_DONTWAIT, NULL);
        if (count < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
                break;
            }
            if (errno == ECONNREFUSED) { /* told of an earlier datagram that nobody took */
                continue;
            }
            Py_DECREF(found);
            return PyErr_SetFromErrno(PyExc_OSError);
        }
        full = count == wanted;
        for (int at = 0; at < count; at++) {
            PyObject *address = address_object(&from[at]);
            PyObject *entry = NULL;

            if (address != NULL) {
                entry = Py_BuildValue(
                    "(y#N)", buffers[at], (Py_ssize_t)messages[at].msg_len, address);
            }
            if (entry == NULL || PyList_Append(found, entry) < 0) {
                Py_XDECREF(entry);
                Py_DECREF(found);
                return NULL;
            }
            Py_DECREF(entry);
            left -= messages[at].msg_len > LEAST ? messages[at].msg_len : LEAST;
        }
    }
    return found;
}

/* Write (host, port) as an address of a socket's family; IPv4 hosts are mapped for IPv6 sockets by
   the caller. Returns its length, 0 with an exception set for what is none. */
static socklen_t
read_address(PyObject *pair, struct sockaddr_storage *to)
{
    const char *host;
    int port;

    memset(to, 0, sizeof *to);
    if (!PyArg_ParseTuple(pair, "si", &host, &port)) {
        return 0;
    }
    if (strchr(host, ':') == NULL) {
        struct sockaddr_in *plain = (struct sockaddr_in *)to;
        plain->sin_family = AF_INET;
        plain->sin_port = htons((uint16_t)port);
        if (inet_pton(AF_INET, host, &plain->sin_addr) == 1) {
            return sizeof *plain;
        }
    } else {
        struct sockaddr_in6 *wide = (struct sockaddr_in6 *)to;
        wide->sin6_family = AF_INET6;
        wide->sin6_port = htons((uint16_t)port);
        if (inet_pton(AF_INET6, host, &wide->sin6_addr) == 1) {
            return sizeof *wide;
        }
    }
    PyErr_Format(PyExc_ValueError, "not an address: %s", host);
    return 0;
}

/* Take a pair of bytes and address apart; returns 0 with an exception set for anything else. */
static int
read_pair(PyObject *entry, PyObject **data, PyObject **pair)
{
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != 2
        || !PyBytes_Check(PyTuple_GET_ITEM(entry, 0))
        || !PyTuple_Check(PyTuple_GET_ITEM(entry, 1))) {
        PyErr_SetString(PyExc_TypeError, "each entry is (bytes, (host, port))");
        return 0;
    }
    *data = PyTuple_GET_ITEM(entry, 0);
    *pair = PyTuple_GET_ITEM(entry, 1);
    return 1;
}

/* send(fd, [(datagram, (host, port)), ...]) -> how many could not be sent. Those are lost: it is a
   datagram protocol's business to send them again. */
static PyObject *
send_many(PyObject *self, PyObject *args)
{
    struct mmsghdr messages[MOST];
    struct iovec vectors[MOST];
    struct sockaddr_storage to[MOST];
    PyObject *list;
    Py_ssize_t at = 0, total;
    long lost = 0;
    int fd;

    (void)self;
    if (!PyArg_ParseTuple(args, "iO!", &fd, &PyList_Type, &list)) {
        return NULL;
    }
    total = PyList_GET_SIZE(list);
    while (at < total) {
        int count = 0, sent = 0;

        memset(messages, 0, sizeof messages);
        for (; count < MOST && at + count < total; count++) {
            PyObject *data, *pair;
            char *bytes;
            Py_ssize_t length;

            if (!read_pair(PyList_GET_ITEM(list, at + count), &data, &pair)
                || PyBytes_AsStringAndSize(data, &bytes, &length) < 0) {
                return NULL;
            }
            messages[count].msg_hdr.msg_namelen = read_address(pair, &to[count]);
            if (messages[count].msg_hdr.msg_namelen == 0) {
                return NULL;
            }
            vectors[count].iov_base = bytes;
            vectors[count].iov_len = (size_t)length;
            messages[count].msg_hdr.msg_name = &to[count];
            messages[count].msg_hdr.msg_iov = &vectors[count];
            messages[count].msg_hdr.msg_iovlen = 1;
        }
        while (sent < count) {
            int done = sendmmsg(fd, messages + sent, (unsigned)(count - sent), MSG_DONTWAIT);

            if (done > 0) {
                sent += done;
                continue;
            }
            if (done < 0 && errno == EINTR) {
                continue;
            }
            /* This one cannot leave (a full buffer, an unreachable net); the next may. */
            sent++;
            lost++;
        }
        at += count;
    }
    return PyLong_FromLong(lost);
}

static PyMethodDef methods[] = {
    {"receive", receive, METH_VARARGS, "receive(fd, bytes) -> list of (datagram, (host, port))"},
    {"send", send_many, METH_VARARGS, "send(fd, list of (datagram, (host, port))) -> lost"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "emu.net.udp._datagrams", "Many datagrams with one system call.", -1,
    methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit__datagrams(void)
{
    PyObject *made = PyModule_Create(&module);

    if (made != NULL && PyModule_AddIntConstant(made, "LONGEST", LONGEST) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
