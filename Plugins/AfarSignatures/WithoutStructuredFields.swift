#if !StructuredFields
    // Without the trait, these declarations replace "cannot find type in scope" by the remedy.

    /// Signs requests with HTTP Message Signatures. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public struct MessageSigner {}

    /// Signs each request of a session with HTTP Message Signatures. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public struct MessageSigningStage {}

    /// Verifies HTTP Message Signatures. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public struct MessageVerifier {}

    /// Verifies the signatures of all responses. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public struct VerifyingTransport {}
#endif
