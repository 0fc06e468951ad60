public import AfarCore
public import Logging

#if !Logging
    #error("AfarLogging needs the package trait Logging: .package(url: …, traits: [\"Logging\"])")
#endif

extension LoggingMonitor {
    /// Makes a monitor that writes to a swift-log logger.
    ///
    /// What came of a request is logged at `.info`, the steps on the way at `.debug`. The facts are metadata: `request`,
    /// `method`, `url`, `status`, `duration`, `bytes`, `cached`, `attempt`, `error`, and for the steps `details`, as far as there are
    /// any; secrets are hidden.
    ///
    /// - Parameters:
    ///   - level: How much is handed to the logger, which then decides by its own level. The default is all that the
    ///     logger's level, at this moment, lets through.
    ///   - logger: Where it goes.
    public convenience init(_ level: Level? = nil, logger: Logger) {
        self.init(level ?? (logger.logLevel <= .debug ? .debug : .info)) { entry in
            logger.log(
                level: entry.level.loggerLevel, "\(entry.message)", metadata: entry.loggerMetadata, source: "Afar")
        }
    }
}

extension LoggingMonitor.Level {
    fileprivate var loggerLevel: Logger.Level {
        switch self {
        case .info: .info
        case .debug: .debug
        }
    }
}

extension LoggingMonitor.Entry {
    fileprivate var loggerMetadata: Logger.Metadata {
        var metadata = metadata.mapValues { Logger.MetadataValue.string($0) }
        if !details.isEmpty { metadata["details"] = .array(details.map { .string($0) }) }
        return metadata
    }
}
