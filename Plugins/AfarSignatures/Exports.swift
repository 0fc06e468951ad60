@_exported public import enum AfarKeys.SignatureAlgorithm
@_exported public import struct AfarKeys.SignatureKey
@_exported public import struct AfarKeys.SignatureKeyError
