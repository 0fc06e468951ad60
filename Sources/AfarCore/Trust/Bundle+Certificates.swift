public import AfarTransport
public import Foundation

extension Bundle: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: Bundle {
    /// The certificates in the bundle: in files that end in `.cer`, `.crt`, `.der` or `.pem`, in DER or PEM form. What cannot
    /// be read is left out.
    public var certificates: [Certificate] {
        paths(forResourcesOfTypes: ["cer", "CER", "crt", "CRT", "der", "DER", "pem", "PEM"]).flatMap { path in
            (try? Certificate.certificates(contentsOf: URL(filePath: path))) ?? []
        }
    }

    /// The keys of these certificates.
    public var publicKeys: [PublicKey] { certificates.map(\.publicKey) }

    /// The paths of the bundle's resources whose names end in one of these, without the dot.
    public func paths(forResourcesOfTypes types: [String]) -> [String] {
        Array(Set(types.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) })).sorted()
    }
}
