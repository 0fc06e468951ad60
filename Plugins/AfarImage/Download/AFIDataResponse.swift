public import AfarCore

/// The response of an ``ImageDownloader``.
public typealias AFIDataResponse<Success> = DataResponse<Success, AFIError>
