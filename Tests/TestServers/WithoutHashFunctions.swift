#if os(Linux)
    import COpenSSL

    /// The error that OpenSSL can't create or configure a library context.
    package struct NoLibraryContext: Error {}

    /// Runs code while OpenSSL provides no hash functions on this thread, just as it provides no MD5 in FIPS mode.
    package func withoutHashFunctions<Result>(_ body: () throws -> Result) throws -> Result {
        guard let context = OSSL_LIB_CTX_new() else { throw NoLibraryContext() }
        defer { OSSL_LIB_CTX_free(context) }
        // This context contains no FIPS provider.
        guard EVP_set_default_properties(context, "fips=yes") == 1 else { throw NoLibraryContext() }
        let previous = OSSL_LIB_CTX_set0_default(context)
        defer { OSSL_LIB_CTX_set0_default(previous) }
        return try body()
    }

    /// The pending OpenSSL error of this thread, or 0. OpenSSL would report it for the next failure.
    package func pendingOpenSSLError() -> UInt { ERR_peek_error() }
#endif
