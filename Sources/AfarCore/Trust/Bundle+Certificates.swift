public import AfarTransport
public import Foundation

extension Bundle: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: Bundle {
    /// The certificates in the bundle: in files that end in `.cer`, `.crt` or `.der`, in DER or PEM form. What cannot be read is
    /// left out.
    public var certificates: [Certificate] {
        paths(forResourcesOfTypes: [".cer", ".CER", ".crt", ".CRT", ".der", ".DER"]).flatMap { path in
            (try? Certificate.certificates(contentsOf: URL(filePath: path))) ?? []
        }
    }

    /// The keys of these certificates.
    public var publicKeys: [PublicKey] { certificates.map(\.publicKey) }

    /// The paths of the bundle's resources whose names end in one of these, "cer" or ".cer" say.
    public func paths(forResourcesOfTypes types: [String]) -> [String] {
        let endings = types.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
        return Set(endings.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }).sorted()
    }
}
