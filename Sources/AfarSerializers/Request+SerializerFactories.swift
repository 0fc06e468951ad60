public import AfarCore
public import Foundation

extension DataRequest {
    /// What the 4.x generation had for a serializer that gives the bytes themselves.
    public static func dataResponseSerializer() -> DataResponseSerializer { DataResponseSerializer() }

    /// What the 4.x generation had for a serializer of text.
    ///
    /// - Parameter encoding: The encoding to use whatever the response says. The default is nil: go by the response.
    public static func stringResponseSerializer(encoding: String.Encoding? = nil) -> StringResponseSerializer {
        StringResponseSerializer(encoding: encoding)
    }

    /// What the 4.x generation had for a serializer of Foundation's JSON values.
    ///
    /// - Parameter options: How JSON is read. The default allows fragments.
    public static func jsonResponseSerializer(
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) -> JSONResponseSerializer {
        JSONResponseSerializer(options: options)
    }

    /// What the 4.x generation had for a serializer of property lists.
    ///
    /// - Parameter options: How the property list is read. The default is nothing special.
    public static func propertyListResponseSerializer(
        options: PropertyListSerialization.ReadOptions = []
    ) -> PropertyListResponseSerializer {
        PropertyListResponseSerializer(options: options)
    }
}

extension DownloadRequest {
    /// What the 4.x generation had for a serializer that gives the bytes themselves.
    public static func dataResponseSerializer() -> DataResponseSerializer { DataResponseSerializer() }

    /// What the 4.x generation had for a serializer of text.
    ///
    /// - Parameter encoding: The encoding to use whatever the response says. The default is nil: go by the response.
    public static func stringResponseSerializer(encoding: String.Encoding? = nil) -> StringResponseSerializer {
        StringResponseSerializer(encoding: encoding)
    }

    /// What the 4.x generation had for a serializer of Foundation's JSON values.
    ///
    /// - Parameter options: How JSON is read. The default allows fragments.
    public static func jsonResponseSerializer(
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) -> JSONResponseSerializer {
        JSONResponseSerializer(options: options)
    }

    /// What the 4.x generation had for a serializer of property lists.
    ///
    /// - Parameter options: How the property list is read. The default is nothing special.
    public static func propertyListResponseSerializer(
        options: PropertyListSerialization.ReadOptions = []
    ) -> PropertyListResponseSerializer {
        PropertyListResponseSerializer(options: options)
    }
}
