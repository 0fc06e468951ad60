import AfarTransport
public import Foundation

extension CurlTransport {
    /// What holds for all exchanges of a transport, because they share its connections.
    public struct Configuration: Sendable {
        /// The connections open at once to one host (scheme, name and port). Further exchanges wait their turn.
        /// The default is 6.
        public var maximumConnectionsPerHost = 6
        /// The connections that each thread keeps open without use, over all its hosts. libcurl counts those in use too, so less
        /// than one host may have makes connections close that are about to be used again. The default is 64.
        public var maximumIdleConnections = 64
        /// How long a connection is kept open without use, in seconds, of which parts count as whole ones; it is closed
        /// within three seconds after that. 0 or less closes each connection after its request, `.infinity` leaves that to the
        /// server. Many servers close theirs after 5 to 75. The default is 90.
        public var maximumIdleTime: TimeInterval = 90
        /// The threads that drive connections, at most 64; less than 1 means 1. All connections to one host are one thread's,
        /// which makes 20,000 small requests a second and more, so several help those who have several busy hosts. A host's
        /// thread is chosen by its name. The default is one for each four processors, one at least; a container's quota of
        /// processor time is not known here.
        public var maximumThreads = max(1, ProcessInfo.processInfo.activeProcessorCount / 4)
        /// The host names looked up at once; each look-up takes a thread. Divided among the threads that drive
        /// connections, rounded up. The default is 16.
        public var maximumLookups = 16
        /// A file of PEM certificates to trust instead of the system's; nil for the system's.
        public var certificateBundle: URL?
        /// Whether the certificates of servers must follow RFC 5280 to the letter (OpenSSL's `X509_V_FLAG_X509_STRICT`); those of
        /// private authorities often lack a key identifier, for example. Evaluators validate by it, too. The default is false.
        public var validatesCertificatesStrictly = false
        /// The ciphers for TLS 1.2, as a list in OpenSSL's form ("ECDHE+AESGCM:!RSA"); nil for OpenSSL's own. A list that
        /// OpenSSL does not understand fails each request over https.
        public var tlsCipherList: String?
        /// The ciphers for TLS 1.3 ("TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"); nil for OpenSSL's own.
        public var tls13CipherSuites: String?
        /// A file to which the secrets of each TLS handshake are added, for Wireshark and the like; nil, which is the default,
        /// for none. Who has the file can read all that was sent: it is for debugging only. It is made with mode 0600.
        /// When it cannot be opened, requests over https fail.
        public var tlsKeyLogFile: URL?

        /// Makes the default configuration.
        public init() {}

        /// Whole seconds, within what libcurl can count.
        var maximumIdleSeconds: Int {
            maximumIdleTime > 0 ? Int(min(maximumIdleTime.rounded(.up), 1_000_000_000)) : 0
        }

        /// The configuration of each thread.
        var forOneThread: Self {
            var copy = self
            copy.maximumLookups = LoopGroup.share(of: maximumLookups, among: maximumThreads)
            return copy
        }
    }
}
