#if !StructuredFields
    // Without the trait, these declarations replace the error "cannot find type in scope" with the remedy.

    /// A digest in `Content-Digest`. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public enum ContentDigest {}

    /// An error of HTTP Message Signatures. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public struct MessageSignatureError {}

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

    /// Stores the nonces of HTTP Message Signatures. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public final class NonceStore {}

    /// A component of a message that a signature covers. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public struct SignatureComponent {}

    /// The parameters of HTTP Message Signatures. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public struct SignatureParameters {}

    /// Verifies the signatures of all responses. Requires the package trait StructuredFields.
    @available(
        *, unavailable, message: "Enable the package trait: .package(url: …, traits: [.defaults, \"StructuredFields\"])"
    )
    public struct VerifyingTransport {}
#endif
