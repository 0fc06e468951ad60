public import Foundation

extension AFError {
    /// Why a validator refused a response.
    public enum ResponseValidationFailureReason: Sendable {
        /// There is no file with the downloaded data.
        case dataFileNil
        /// The file with the downloaded data cannot be read.
        case dataFileReadFailed(at: URL)
        /// The response names no content type, and not every type is acceptable.
        case missingContentType(acceptableContentTypes: [String])
        /// The response has a content type that is not acceptable.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The response has a status code that is not acceptable.
        case unacceptableStatusCode(code: Int)
        /// A validator of the caller's failed with an error of its own.
        case customValidationFailed(error: any Error)
    }

    /// Why a response could not be turned into a value.
    public enum ResponseSerializationFailureReason: Sendable {
        /// The body is empty where it must not be.
        case inputDataNilOrZeroLength
        /// There is no file with the downloaded data.
        case inputFileNil
        /// The file with the downloaded data cannot be read.
        case inputFileReadFailed(at: URL)
        /// The body is no text in this encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The body could not be made text; the error tells why, and the encoding is Foundation's name for the one tried,
        /// where there is one.
        case textDecodingFailed(encoding: String.Encoding?, error: any Error)
        /// The body is not JSON.
        case jsonSerializationFailed(error: any Error)
        /// The body is not a property list.
        case propertyListSerializationFailed(error: any Error)
        /// The body does not have the shape of the type asked for.
        case decodingFailed(error: any Error)
        /// A serializer failed with an error of its own.
        case customSerializationFailed(error: any Error)
        /// The body is empty, as it may be, but the type asked for has no value for that.
        case invalidEmptyResponse(type: String)
    }

    /// Why a server's identity was not accepted.
    public enum ServerTrustFailureReason: Sendable {
        /// What an evaluator looked at and what it found.
        public struct Output: Sendable {
            /// The host whose identity was in question.
            public let host: String
            /// What the server presented.
            public let trust: ServerTrust
            /// What was found to be wrong.
            public let error: ServerTrustError

            /// Makes an output.
            public init(host: String, trust: ServerTrust, error: ServerTrustError) {
                self.host = host
                self.trust = trust
                self.error = error
            }
        }

        /// Every host must have an evaluator, and this one has none.
        case noRequiredEvaluator(host: String)
        /// There are no certificates to compare with.
        case noCertificatesFound
        /// There are no public keys to compare with.
        case noPublicKeysFound
        /// A policy could not be applied.
        case policyApplicationFailed(host: String, message: String)
        /// The certificates to trust could not be set.
        case settingAnchorCertificatesFailed(host: String, message: String, certificates: [Certificate])
        /// The policy that looks for revoked certificates could not be made.
        case revocationPolicyCreationFailed
        /// The evaluation failed, with an error where there is one.
        case trustEvaluationFailed(error: (any Error)?)
        /// The ordinary validation of the chain failed.
        case defaultEvaluationFailed(output: Output)
        /// The certificate is for another host.
        case hostValidationFailed(output: Output)
        /// The certificate is revoked, or it could not be found out whether it is.
        case revocationCheckFailed(output: Output, options: RevocationTrustEvaluator.Options)
        /// None of the server's certificates is among the pinned ones.
        case certificatePinningFailed(
            host: String, trust: ServerTrust, pinnedCertificates: [Certificate], serverCertificates: [Certificate])
        /// None of the server's keys is among the pinned ones.
        case publicKeyPinningFailed(
            host: String, trust: ServerTrust, pinnedKeys: [PublicKey], serverKeys: [PublicKey])
        /// An evaluator of the caller's failed with an error of its own.
        case customEvaluationFailed(error: any Error)
    }
}
