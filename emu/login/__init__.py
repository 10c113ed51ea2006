"""The login service without input and output: accounts, the world directory, client messages.

`server.LoginServer` serves players' clients with the collaborators in `service.LoginService`.
`directory.WorldDirectory` holds the worlds that registered over the link. `accounts.AccountService`
checks names and passwords. `ports` states the interfaces that they need; this package uses no
socket, thread, database or clock.
"""
