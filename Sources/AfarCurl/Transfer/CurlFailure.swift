import AfarTransport
import CLibcurl
import Foundation

/// A failure that libcurl reports, and its error code and message.
struct CurlFailure {
    var code: CURLcode
    var message: String
    var systemError: Int32
    var verifyResult: Int
    /// Whether the connection was established when the transfer failed.
    var isConnected: Bool
    /// Whether the final head had arrived when the transfer failed.
    var hasHead = false

    /// libcurl's message, or a replacement if the message is misleading.
    var text: String {
        switch code {
        case CURLE_OK where !hasHead, CURLE_PARTIAL_FILE where !hasHead:
            "the connection closed before the response's head was complete"
        case CURLE_GOT_NOTHING: "the connection closed before the first line of the response had arrived"
        case CURLE_OUT_OF_MEMORY where transportCode == .headTooLarge:
            "a line of the response's head is too long for libcurl"
        // X509_V_ERR_HOSTNAME_MISMATCH
        case CURLE_PEER_FAILED_VERIFICATION where verifyResult == 62:
            "the certificate names no host: it has no subject alternative names, and the common name is ignored"
        case CURLE_BAD_FUNCTION_ARGUMENT where transportCode == .malformedResponse:
            "the first field of the response's head begins with white space"
        case CURLE_SSL_CACERT_BADFILE:
            "\(message). Install the package ca-certificates, or name a file of PEM certificates (certificateBundle)"
        default: message.isEmpty ? String(cString: curl_easy_strerror(code)) : message
        }
    }

    var transportCode: TransportError.Code {
        switch code {
        // The scheme has been checked, so the code means that the response isn't HTTP/1.
        case CURLE_UNSUPPORTED_PROTOCOL: isConnected ? .malformedResponse : .unsupportedURL
        case CURLE_PEER_FAILED_VERIFICATION: certificateCode
        case CURLE_SSL_CONNECT_ERROR where message.contains("alert"), CURLE_RECV_ERROR where message.contains("alert"),
            CURLE_SEND_ERROR where message.contains("alert"):
            alertCode
        case CURLE_COULDNT_CONNECT: connectCode
        // libcurl couldn't look up the host's address for a SOCKS proxy.
        case CURLE_PROXY where message.contains("resolve host"): .cannotFindHost
        case CURLE_COULDNT_RESOLVE_HOST where message.contains("failed to start"): .outOfResources
        case CURLE_RECV_ERROR where message.contains("chunk"): .malformedResponse
        case CURLE_RECV_ERROR where message.contains("header"): .headTooLarge
        case CURLE_PARTIAL_FILE where !hasHead: .malformedResponse
        case CURLE_BAD_FUNCTION_ARGUMENT where isConnected && !hasHead: .malformedResponse
        // libcurl's limit for a line is lower than Afar's.
        case CURLE_OUT_OF_MEMORY where isConnected && !hasHead: .headTooLarge
        default: Self.codes[Int(code.rawValue)] ?? (isChunkedEncodingError ? .malformedResponse : .unknown)
        }
    }

    /// libcurl reports some chunk errors with a code that is intended for errors in libcurl itself.
    private var isChunkedEncodingError: Bool { message.contains("chunked-encoded") }

    /// Whether `CURLINFO_OS_ERRNO` belongs to a failure with this code. Failures without a system error don't reset this value.
    static func hasSystemError(_ code: CURLcode) -> Bool {
        code == CURLE_COULDNT_CONNECT || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR
    }

    /// Whether a system error means that the process or the machine has run out of a resource.
    static func isOutOfResources(_ systemError: Int32) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(systemError)
    }

    /// The code for a TLS alert about the client's certificate (RFC 8446, section 6.2), from OpenSSL's message. The alert can
    /// arrive after the handshake.
    private var alertCode: TransportError.Code {
        let rejections = [
            "bad certificate", "unknown ca", "certificate expired", "certificate revoked", "certificate unknown",
            "unsupported certificate",
        ]
        return if message.contains("certificate required") {
            .clientCertificateRequired
        } else if rejections.contains(where: { message.contains("alert \($0)") }) {
            .clientCertificateRejected
        } else {
            Self.codes[Int(code.rawValue)] ?? .unknown
        }
    }

    private var connectCode: TransportError.Code {
        switch systemError {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: .notConnected
        default: .cannotConnect
        }
    }

    /// The numbers are OpenSSL's X509_V_ERR_… values.
    private var certificateCode: TransportError.Code {
        switch verifyResult {
        case 9: .certificateNotYetValid
        case 10: .certificateHasBadDate
        case 18, 19, 20: .certificateHasUnknownRoot
        default: .certificateUntrusted
        }
    }

    /// The error code for each libcurl code that can end an HTTP transfer.
    static let codes: [Int: TransportError.Code] = {
        var codes: [Int: TransportError.Code] = [:]
        func map(_ code: TransportError.Code, _ curlCodes: CURLcode...) {
            for curlCode in curlCodes { codes[Int(curlCode.rawValue)] = code }
        }
        map(.unsupportedURL, CURLE_UNSUPPORTED_PROTOCOL)
        map(.invalidURL, CURLE_URL_MALFORMAT)
        map(.cannotFindHost, CURLE_COULDNT_RESOLVE_HOST)
        map(.proxyFailed, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY)
        map(.cannotConnect, CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE)
        map(.timedOut, CURLE_OPERATION_TIMEDOUT)
        map(
            .secureConnectionFailed, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE)
        map(
            .certificateUntrusted, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS)
        map(.clientCertificateRejected, CURLE_SSL_CERTPROBLEM)
        map(.clientCertificateRequired, CURLE_SSL_CLIENTCERT)
        map(
            .malformedResponse, CURLE_OK, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR, CURLE_HTTP_RETURNED_ERROR, CURLE_RANGE_ERROR,
            CURLE_BAD_DOWNLOAD_RESUME, CURLE_CHUNK_FAILED, CURLE_AUTH_ERROR, CURLE_REMOTE_ACCESS_DENIED,
            CURLE_LOGIN_DENIED, CURLE_REMOTE_FILE_NOT_FOUND, CURLE_REMOTE_DISK_FULL, CURLE_REMOTE_FILE_EXISTS,
            CURLE_UPLOAD_FAILED)
        // CURLE_SEND_FAIL_REWIND: a reused connection was lost, and the body can't be rewound.
        map(
            .connectionLost, CURLE_GOT_NOTHING, CURLE_SEND_FAIL_REWIND, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
            CURLE_UNRECOVERABLE_POLL,
            CURLE_AGAIN)
        map(.bodyIncomplete, CURLE_PARTIAL_FILE)
        map(.undecodableContent, CURLE_BAD_CONTENT_ENCODING)
        map(.deliveryFailed, CURLE_WRITE_ERROR)
        map(.requestBodyFailed, CURLE_READ_ERROR)
        map(.cancelled, CURLE_ABORTED_BY_CALLBACK)
        map(.responseTooLarge, CURLE_FILESIZE_EXCEEDED)
        map(.tooManyRedirects, CURLE_TOO_MANY_REDIRECTS)
        map(.outOfResources, CURLE_OUT_OF_MEMORY)
        // CURLE_TOO_LARGE (libcurl 8.6 and later): a line of the head is too long.
        codes[100] = .headTooLarge
        return codes
    }()

    /// Returns a message if the proxy has failed or has refused the request; nil otherwise.
    ///
    /// - Parameter answer: The status of the proxy's response to the request for a tunnel.
    func failure(of proxy: Proxy, answer: Int?) -> String? {
        if let answer, answer >= 300, !hasHead {
            let reason =
                answer == 407 ? "it requires a credential, or does not accept this one" : "its status is \(answer)"
            return "the proxy \(proxy) opened no tunnel to the host: \(reason)"
        }
        return switch code {
        // libcurl reports a failed lookup of a SOCKS proxy with the code for a host.
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST: "the proxy \(proxy) cannot be found"
        case CURLE_RECV_ERROR where message.contains("CONNECT"): "the proxy \(proxy) opened no tunnel: \(text)"
        case CURLE_PROXY where transportCode == .proxyFailed: "the proxy \(proxy) opened no connection: \(text)"
        case CURLE_COULDNT_CONNECT: "the proxy \(proxy) cannot be reached: \(text)"
        default: nil
        }
    }

    static func peer(of handle: EasyHandle) -> String? {
        handle.string(CURLINFO_PRIMARY_IP).map { HostName.authority($0, port: handle.long(CURLINFO_PRIMARY_PORT)) }
    }
}
