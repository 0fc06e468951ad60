@_exported public import AfarStages
@_exported public import AfarTransport
