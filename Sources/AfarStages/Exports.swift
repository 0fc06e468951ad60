@_exported public import AfarTransport
