@_exported public import AfarTrust
