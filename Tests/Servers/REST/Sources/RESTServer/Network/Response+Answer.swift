import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

extension Response {
    /// Creates a response with the complete answer.
    ///
    /// Each response asks the client to close the connection. HTTP clients may repeat a request when a reused
    /// connection breaks, and tests would then miss the broken connection.
    init(_ answer: Answer) {
        self.init(
            status: .init(code: answer.status), headers: .init(answer.headers),
            body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
    }

    /// Creates a response with half of the answer's body and the length of the whole one, and closes the connection
    /// afterwards.
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
    /// Creates headers, with the one that closes the connection.
    fileprivate init(_ headers: [String: String]) {
        self.init()
        self[.connection] = "close"
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { self[name] = value }
        }
    }
}
