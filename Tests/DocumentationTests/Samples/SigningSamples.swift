import Afar
import AfarSignatures
import Foundation
import HTTPTypes

/// The samples of Docs/Signing-Requests.md.
enum SigningSamples {
    static func aws(_ accessKeyID: String, _ secretAccessKey: String) -> DataRequest {
        let credentials = AWSCredentials(accessKeyID: accessKeyID, secretAccessKey: secretAccessKey)
        let signer = AWSSigner(region: "eu-central-1", service: "s3")
        let session = Session(stages: [AWSSigningStage(signer, credentials: credentials)])

        let object = session.request("https://bucket.s3.eu-central-1.amazonaws.com/report.pdf").validate()
        return object
    }

    struct Provider: Sendable {
        func credentials() async throws -> AWSCredentials { AWSCredentials(accessKeyID: "", secretAccessKey: "") }
    }

    static func temporary(_ signer: AWSSigner, _ provider: Provider) -> AWSSigningStage {
        let signing = AWSSigningStage(
            signer, signs: { $0.scheme == "https" && $0.authority == "bucket.s3.eu-central-1.amazonaws.com" },
            credentials: { try await provider.credentials() })
        return signing
    }

    static func uploads(_ signer: AWSSigner, _ credentials: AWSCredentials) -> AWSSigningStage {
        let uploads = AWSSigningStage(signer, credentials: credentials, body: .signedChunks(checksum: .crc32c))
        return uploads
    }

    static func presigned(_ signer: AWSSigner, _ credentials: AWSCredentials, _ report: URL) throws -> URL {
        let url = try signer.presignedURL(for: report, expiresIn: 3600, with: credentials)
        return url
    }

    static func messages(_ pem: String) throws -> Session {
        let key = try SignatureKey(privateKeyPEM: pem, algorithm: .ed25519)
        var signer = MessageSigner(
            key: key, keyID: "client-1", components: [.method, .targetURI, .contentDigest])
        signer.optionalComponents = ["content-type"]
        signer.lifetime = 60
        let session = Session(stages: [MessageSigningStage(signer)])
        return session
    }

    static func keys(_ secret: Data) throws -> SignatureKey {
        let shared = try SignatureKey(secret: secret)
        let pair = try SignatureKey.generate(.ecdsaP256SHA256)
        print(try pair.publicKeyPEM())
        return shared
    }

    #if os(Linux)
        static func verified(_ signer: MessageSigner, _ serverKey: SignatureKey) async {
            let verifier = MessageVerifier(
                components: [
                    .status, .contentDigest, .method.ofRequest, .targetURI.ofRequest,
                    .member("sig1", of: "signature").ofRequest,
                ],
                algorithms: [.ed25519], maximumAge: 300, nonces: NonceStore()
            ) { parameters in
                parameters.keyID == "server-1" ? serverKey : nil
            }
            let session = Session(
                stages: [MessageSigningStage(signer)],
                transport: VerifyingTransport(around: HTTPTransport(), verifier))
            let response = await session.request("https://api.example.com/report").validate().serializingData().response
            if let problem = response.error?.transportError?.underlying as? MessageSignatureError {
                print(problem)
            }
        }
    #endif
}
