#if os(Linux) && canImport(Glibc)
    /// What carries requests where nothing else is said: libcurl, loaded with the first request. Foundation's `URLSession` is a
    /// cover of the same library here, which is loaded with every program that is linked with it.
    public typealias DefaultTransport = CurlTransport
#else
    /// What carries requests where nothing else is said: Foundation's `URLSession`.
    public typealias DefaultTransport = URLSessionTransport
#endif

extension Duration {
    /// In seconds.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
