"""The login service without input or output: accounts, worlds' directory, clients' messages.

`server.LoginServer` serves players' clients with what `service.LoginService` holds,
`directory.directory.WorldDirectory` keeps the worlds that registered over the link,
`accounts.authentication.AccountService` decides who may log in. `ports` states what all of them
need of the outside; nothing here knows a socket, a thread, a database or a clock.
"""
