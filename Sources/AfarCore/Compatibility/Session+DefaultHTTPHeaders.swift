extension Session {
    /// What the 4.x generation called ``HTTPHeaders/default``.
    public static var defaultHTTPHeaders: HTTPHeaders { .default }
}
