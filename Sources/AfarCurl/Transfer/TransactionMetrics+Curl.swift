import AfarTransport
import CLibcurl
import Foundation

extension TransactionMetrics {
    /// What libcurl measured. To be read before the handle is reset.
    init(_ handle: EasyHandle, transfer: Transfer) {
        self.init()
        let start = transfer.started
        // libcurl counts from when it got the transfer, which may have waited for its turn before. Its total time is out of date
        // when a transfer is interrupted.
        let ended = Date()
        let begun = transfer.handoverDate ?? ended
        func moment(_ info: CURLINFO) -> Date? {
            let microseconds = handle.offset(info)
            return microseconds > 0 ? begun.addingTimeInterval(Double(microseconds) / 1e6) : nil
        }
        fetchStartDate = start
        isReusedConnection = transfer.state.hasConnected && handle.long(CURLINFO_NUM_CONNECTS) == 0
        isProxyConnection = transfer.plan.route?.proxy != nil
        resendCount = max(0, transfer.sendCount - 1)
        if !isReusedConnection {
            domainLookupStartDate = begun
            domainLookupEndDate = moment(CURLINFO_NAMELOOKUP_TIME_T)
            connectStartDate = domainLookupEndDate
            secureConnectionEndDate = moment(CURLINFO_APPCONNECT_TIME_T)
            let connected = moment(CURLINFO_CONNECT_TIME_T)
            if transfer.plan.isSecure { secureConnectionStartDate = connected }
            connectEndDate = transfer.plan.isSecure ? secureConnectionEndDate : connected
        }
        requestStartDate = moment(CURLINFO_PRETRANSFER_TIME_T)
        requestEndDate = transfer.bodyEnd ?? requestStartDate
        responseStartDate = moment(CURLINFO_STARTTRANSFER_TIME_T)
        responseEndDate = ended
        switch handle.long(CURLINFO_HTTP_VERSION) {
        case CURL_HTTP_VERSION_1_0: networkProtocolName = "http/1.0"
        case CURL_HTTP_VERSION_1_1: networkProtocolName = "http/1.1"
        case CURL_HTTP_VERSION_2_0: networkProtocolName = "h2"
        case CURL_HTTP_VERSION_3: networkProtocolName = "h3"
        default: networkProtocolName = nil
        }
        remoteAddress = handle.string(CURLINFO_PRIMARY_IP)
        localAddress = handle.string(CURLINFO_LOCAL_IP)
        if remoteAddress != nil { remotePort = handle.long(CURLINFO_PRIMARY_PORT) }
        if localAddress != nil { localPort = handle.long(CURLINFO_LOCAL_PORT) }
        countOfRequestHeaderBytesSent = Int64(handle.long(CURLINFO_REQUEST_SIZE))
        countOfResponseHeaderBytesReceived = Int64(handle.long(CURLINFO_HEADER_SIZE))
        countOfRequestBodyBytesSent = handle.offset(CURLINFO_SIZE_UPLOAD_T)
        countOfResponseBodyBytesReceived = handle.offset(CURLINFO_SIZE_DOWNLOAD_T)
        countOfRequestBodyBytesBeforeEncoding = transfer.bodyByteCount
        note(transfer.agreement ?? transfer.handle?.handshake?.undecided?.agreement)
        countOfResponseBodyBytesAfterDecoding = transfer.sink.byteCount
    }
}
