public import AfarCore
public import Foundation

extension DataRequest {
    /// Returns a serializer for the bytes of a response. This is the method's name in Alamofire 4.
    public static func dataResponseSerializer() -> DataResponseSerializer { DataResponseSerializer() }

    /// Returns a serializer for text. This is the method's name in Alamofire 4.
    ///
    /// - Parameter encoding: The encoding to use regardless of the response. By default, the response determines it.
    public static func stringResponseSerializer(encoding: String.Encoding? = nil) -> StringResponseSerializer {
        StringResponseSerializer(encoding: encoding)
    }

    /// Returns a serializer for Foundation's JSON values. This is the method's name in Alamofire 4.
    ///
    /// - Parameter options: The options for reading JSON. The default allows fragments.
    public static func jsonResponseSerializer(
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) -> JSONResponseSerializer {
        JSONResponseSerializer(options: options)
    }

    /// Returns a serializer for property lists. This is the method's name in Alamofire 4.
    ///
    /// - Parameter options: The options for reading the property list. The default is no options.
    public static func propertyListResponseSerializer(
        options: PropertyListSerialization.ReadOptions = []
    ) -> PropertyListResponseSerializer {
        PropertyListResponseSerializer(options: options)
    }
}

extension DownloadRequest {
    /// Returns a serializer for the bytes of a response. This is the method's name in Alamofire 4.
    public static func dataResponseSerializer() -> DataResponseSerializer { DataResponseSerializer() }

    /// Returns a serializer for text. This is the method's name in Alamofire 4.
    ///
    /// - Parameter encoding: The encoding to use regardless of the response. By default, the response determines it.
    public static func stringResponseSerializer(encoding: String.Encoding? = nil) -> StringResponseSerializer {
        StringResponseSerializer(encoding: encoding)
    }

    /// Returns a serializer for Foundation's JSON values. This is the method's name in Alamofire 4.
    ///
    /// - Parameter options: The options for reading JSON. The default allows fragments.
    public static func jsonResponseSerializer(
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) -> JSONResponseSerializer {
        JSONResponseSerializer(options: options)
    }

    /// Returns a serializer for property lists. This is the method's name in Alamofire 4.
    ///
    /// - Parameter options: The options for reading the property list. The default is no options.
    public static func propertyListResponseSerializer(
        options: PropertyListSerialization.ReadOptions = []
    ) -> PropertyListResponseSerializer {
        PropertyListResponseSerializer(options: options)
    }
}
