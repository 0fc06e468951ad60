#if os(Linux)
    import COpenSSL

    /// OpenSSL can't create or configure a library context.
    package struct NoLibraryContext: Error {}

    /// Runs code while OpenSSL provides no hash function on this thread, as it provides no MD5 in FIPS mode.
    package func withoutHashFunctions<Result>(_ body: () throws -> Result) throws -> Result {
        guard let context = OSSL_LIB_CTX_new() else { throw NoLibraryContext() }
        defer { OSSL_LIB_CTX_free(context) }
        // There is no FIPS provider in this context.
        guard EVP_set_default_properties(context, "fips=yes") == 1 else { throw NoLibraryContext() }
        let previous = OSSL_LIB_CTX_set0_default(context)
        defer { OSSL_LIB_CTX_set0_default(previous) }
        return try body()
    }

    /// The code of the error that OpenSSL would report for the next failure on this thread; 0 for none.
    package func pendingOpenSSLError() -> UInt { ERR_peek_error() }
#endif
