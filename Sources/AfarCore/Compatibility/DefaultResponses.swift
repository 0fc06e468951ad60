public import Foundation

/// What the 4.x generation called the response to a request without a serializer.
public typealias DefaultDataResponse = AFDataResponse<Data?>

/// What the 4.x generation called the response to a download without a serializer.
public typealias DefaultDownloadResponse = AFDownloadResponse<URL?>
