@_exported public import AfarCompression
@_exported public import AfarCore
@_exported public import AfarPublicSuffix
@_exported public import AfarReachability
@_exported public import AfarSerializers
@_exported public import AfarURLSession
@_exported public import Foundation

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
#if canImport(AfarCurl)
    @_exported public import AfarCurl
    @_exported public import AfarHTTP
#endif
