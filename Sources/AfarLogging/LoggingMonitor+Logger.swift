public import AfarCore
public import Logging

#if !Logging
    #error("AfarLogging needs the package trait Logging: .package(url: …, traits: [.defaults, \"Logging\"])")
#endif

extension LoggingMonitor {
    /// Creates a monitor that writes to a swift-log logger.
    ///
    /// The outcome of each request is logged at `.info` and intermediate steps at `.debug`. The metadata can contain
    /// `request`, `method`, `url`, `status`, `duration`, `bytes`, `cached`, `attempt`, `error` and, for steps,
    /// `details`. Secrets are redacted.
    ///
    /// - Parameters:
    ///   - level: The most detailed level to pass to the logger. The logger also applies its own level. The default
    ///     depends on the logger's current level.
    ///   - logger: The logger that receives the messages.
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
