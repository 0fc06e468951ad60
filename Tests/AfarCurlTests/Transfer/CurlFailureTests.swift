import AfarCore
import CLibcurl
import Foundation
import Testing

@testable import AfarCurl

struct CurlFailureTests {
    /// The codes for other protocols, for options that are set elsewhere, and for uses that don't occur.
    private static let notForHTTP: Set<UInt32> = Set(
        [
            CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN, CURLE_FTP_ACCEPT_FAILED, CURLE_FTP_WEIRD_PASS_REPLY,
            CURLE_FTP_ACCEPT_TIMEOUT, CURLE_FTP_WEIRD_PASV_REPLY, CURLE_FTP_WEIRD_227_FORMAT, CURLE_FTP_CANT_GET_HOST,
            CURLE_FTP_COULDNT_SET_TYPE, CURLE_FTP_COULDNT_RETR_FILE, CURLE_QUOTE_ERROR, CURLE_FTP_PORT_FAILED,
            CURLE_FTP_COULDNT_USE_REST, CURLE_HTTP_POST_ERROR, CURLE_FILE_COULDNT_READ_FILE, CURLE_LDAP_CANNOT_BIND,
            CURLE_LDAP_SEARCH_FAILED, CURLE_FUNCTION_NOT_FOUND, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION,
            CURLE_SETOPT_OPTION_SYNTAX, CURLE_TFTP_NOTFOUND, CURLE_TFTP_PERM, CURLE_TFTP_ILLEGAL, CURLE_TFTP_UNKNOWNID,
            CURLE_TFTP_NOSUCHUSER, CURLE_SSH, CURLE_FTP_PRET_FAILED, CURLE_RTSP_CSEQ_ERROR, CURLE_RTSP_SESSION_ERROR,
            CURLE_FTP_BAD_FILE_LIST, CURLE_RECURSIVE_API_CALL,
        ].map(\.rawValue))

    @Test func everyCodeOfLibcurlIsMapped() {
        let unknown = String(cString: curl_easy_strerror(CURL_LAST))
        for value in 1..<CURL_LAST.rawValue {
            let text = String(cString: curl_easy_strerror(CURLcode(value)))
            if text == unknown { continue }
            let isMapped = CurlFailure.codes[Int(value)] != nil
            #expect(isMapped != Self.notForHTTP.contains(value), "\(value): \(text)")
        }
    }

    private func failure(
        _ code: CURLcode, _ message: String = "", systemError: Int32 = 0, verifyResult: Int = 0,
        isConnected: Bool = true, hasHead: Bool = false
    ) -> CurlFailure {
        CurlFailure(
            code: code, message: message, systemError: systemError, verifyResult: verifyResult,
            isConnected: isConnected, hasHead: hasHead)
    }

    @Test(arguments: [
        (9, TransportError.Code.certificateNotYetValid), (10, .certificateHasBadDate), (18, .certificateHasUnknownRoot),
        (19, .certificateHasUnknownRoot), (20, .certificateHasUnknownRoot), (0, .certificateUntrusted),
        (62, .certificateUntrusted),
    ])
    func certificateErrorsHaveAReason(_ verifyResult: Int, _ code: TransportError.Code) {
        #expect(failure(CURLE_PEER_FAILED_VERIFICATION, verifyResult: verifyResult).transportCode == code)
    }

    @Test(arguments: [ENETUNREACH, EHOSTUNREACH, ENETDOWN])
    func aMissingRouteIsNotConnected(_ systemError: Int32) {
        #expect(failure(CURLE_COULDNT_CONNECT, systemError: systemError).transportCode == .notConnected)
        #expect(failure(CURLE_COULDNT_CONNECT, systemError: ECONNREFUSED).transportCode == .cannotConnect)
    }

    @Test func theStageDistinguishesCodes() {
        #expect(failure(CURLE_UNSUPPORTED_PROTOCOL).transportCode == .malformedResponse)
        #expect(failure(CURLE_UNSUPPORTED_PROTOCOL, isConnected: false).transportCode == .unsupportedURL)
        #expect(failure(CURLE_OUT_OF_MEMORY).transportCode == .headTooLarge)
        #expect(failure(CURLE_OUT_OF_MEMORY, hasHead: true).transportCode == .outOfResources)
        #expect(failure(CURLE_OUT_OF_MEMORY, isConnected: false).transportCode == .outOfResources)
        #expect(failure(CURLE_PARTIAL_FILE, hasHead: true).transportCode == .bodyIncomplete)
        #expect(failure(CURLE_PARTIAL_FILE).transportCode == .malformedResponse)
        #expect(failure(CURLE_RECV_ERROR, "bad chunk").transportCode == .malformedResponse)
        #expect(failure(CURLE_RECV_ERROR, "bad chunk", systemError: ECONNREFUSED).transportCode == .malformedResponse)
        #expect(failure(CURLE_BAD_FUNCTION_ARGUMENT).transportCode == .malformedResponse)
        #expect(failure(CURLE_BAD_FUNCTION_ARGUMENT, isConnected: false).transportCode == .unknown)
        #expect(failure(CURLE_GOT_NOTHING).transportCode == .connectionLost)
        #expect(failure(CURLE_RECV_ERROR, "reset", systemError: ECONNRESET).transportCode == .connectionLost)
    }

    @Test func everyFailureHasAMessage() {
        #expect(failure(CURLE_COULDNT_CONNECT, "in detail").text == "in detail")
        #expect(!failure(CURLE_COULDNT_CONNECT).text.isEmpty)
    }
}
