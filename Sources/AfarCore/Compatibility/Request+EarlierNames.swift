extension DataRequest {
    /// What the 4.x generation called that which a data request is made from.
    public typealias Requestable = any URLRequestConvertible
}

extension DownloadRequest {
    /// What the 4.x generation called ``Destination``.
    public typealias DownloadFileDestination = Destination

    /// What the 4.x generation called ``Options``.
    public typealias DownloadOptions = Options
}
