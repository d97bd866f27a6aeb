import Foundation
import HTTPTypes

extension HTTPRequest {
    /// A request to an address of `http` or `https`.
    init(method: Method, url: URL) {
        let port = url.port.map { ":\($0)" } ?? ""
        let host = url.host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let path = components?.percentEncodedPath ?? ""
        let query = components?.percentEncodedQuery.map { "?\($0)" } ?? ""
        self.init(
            method: method, scheme: url.scheme, authority: host + port, path: (path.isEmpty ? "/" : path) + query)
    }

    /// The address.
    var address: String { "\(scheme ?? "http")://\(authority ?? "")\(path ?? "/")" }
}
