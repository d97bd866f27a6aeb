import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

extension Response {
    /// The whole answer.
    ///
    /// Each asks the client to close the connection. An HTTP client may send a request once more by itself when a
    /// connection that it used before breaks without a byte, and then no test would see the broken one.
    init(_ answer: Answer) {
        self.init(
            status: .init(code: answer.status), headers: .init(answer.headers),
            body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
    }

    /// Half of the answer's body under the length of the whole, after which the connection closes.
    init(cutting answer: Answer, on connection: Connection) {
        let half = ByteBuffer(bytes: answer.body.prefix(answer.body.count / 2))
        let body = ResponseBody(contentLength: max(answer.body.count, 1)) { writer in
            try await writer.write(half)
            await connection.close()
        }
        // A 204 has no length that could be wrong.
        let status = answer.status == 204 ? 200 : answer.status
        self.init(status: .init(code: status), headers: .init(answer.headers), body: body)
    }
}

extension HTTPFields {
    /// Headers, and the one that closes the connection.
    fileprivate init(_ headers: [String: String]) {
        self.init()
        self[.connection] = "close"
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { self[name] = value }
        }
    }
}
