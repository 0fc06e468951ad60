/// Facts about this library.
public enum AFInfo {
    /// The version, in the sense of semver.org.
    public static let version = "0.1.0"
}
