/// What the 4.x generation called a ``Session``.
public typealias SessionManager = Session
