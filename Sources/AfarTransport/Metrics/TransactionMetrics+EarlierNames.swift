extension TransactionMetrics {
    /// The earlier name of ``countOfRequestHeaderBytesSent``.
    @available(*, deprecated, renamed: "countOfRequestHeaderBytesSent")
    public var requestHeaderBytes: Int64 {
        get { countOfRequestHeaderBytesSent }
        set { countOfRequestHeaderBytesSent = newValue }
    }

    /// The earlier name of ``countOfRequestBodyBytesSent``.
    @available(*, deprecated, renamed: "countOfRequestBodyBytesSent")
    public var requestBodyBytes: Int64 {
        get { countOfRequestBodyBytesSent }
        set { countOfRequestBodyBytesSent = newValue }
    }

    /// The earlier name of ``countOfResponseHeaderBytesReceived``.
    @available(*, deprecated, renamed: "countOfResponseHeaderBytesReceived")
    public var responseHeaderBytes: Int64 {
        get { countOfResponseHeaderBytesReceived }
        set { countOfResponseHeaderBytesReceived = newValue }
    }

    /// The earlier name of ``countOfResponseBodyBytesReceived``.
    @available(*, deprecated, renamed: "countOfResponseBodyBytesReceived")
    public var responseBodyBytes: Int64 {
        get { countOfResponseBodyBytesReceived }
        set { countOfResponseBodyBytesReceived = newValue }
    }

    /// The earlier name of ``countOfResponseBodyBytesAfterDecoding``.
    @available(*, deprecated, renamed: "countOfResponseBodyBytesAfterDecoding")
    public var responseBodyBytesAfterDecoding: Int64 {
        get { countOfResponseBodyBytesAfterDecoding }
        set { countOfResponseBodyBytesAfterDecoding = newValue }
    }
}
