"""The login service without input or output: accounts, worlds' directory, clients' messages.

`service.LoginService` serves players' clients, `directory.WorldDirectory` keeps the worlds that
registered over the link, `accounts.AccountService` decides who may log in. `ports` states what
all of them need of the outside; nothing here knows a socket, a thread, a database or a clock.
"""
