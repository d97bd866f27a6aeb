import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore

extension Call {
    /// Creates the call of a request whose body was read.
    init(_ request: Request, components: ArraySlice<String>, body: ByteBuffer) {
        let target = request.head.path ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var headers: [String: String] = [:]
        for field in request.headers { headers[field.name.canonicalName] = field.value }
        self.init(
            method: request.method.rawValue,
            path: Array(components),
            query: Query(parts.count > 1 ? String(parts[1]) : ""),
            headers: headers,
            body: Data(body.readableBytesView),
            address: "http://\(request.head.authority ?? "127.0.0.1")\(parts[0])")
    }

    /// Returns the decoded components of a request's path, without empty ones.
    static func components(of request: Request) -> [String] {
        let path = (request.head.path ?? "/").prefix { $0 != "?" }
        return path.split(separator: "/").map { String($0).removingPercentEncoding ?? String($0) }
    }
}
