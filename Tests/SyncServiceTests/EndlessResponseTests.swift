#if os(Linux) && canImport(Glibc)
    import Foundation
    import Glibc
    import HTTPTypes
    import SyncCore
    import Testing

    @testable import SyncService

    /// Responses without an end.
    @Suite("Responses without an end")
    struct EndlessResponseTests {
        @Test("A slow response without an end fails after the total timeout")
        func slowResponse() async throws {
            let server = try EndlessServer(piece: " ")
            let transport = CurlTransport(timeout: .seconds(60), totalTimeout: .seconds(1))
            let error = await #expect(throws: ServiceError.self) {
                try await transport.send(server.request, body: nil)
            }
            var isUnreachable = false
            if case .unreachable? = error { isUnreachable = true }
            #expect(isUnreachable, "\(String(describing: error))")
        }

        @Test("A response larger than the limit is not read completely")
        func largeResponse() async throws {
            let server = try EndlessServer(piece: String(repeating: " ", count: 4096))
            let transport = CurlTransport(maxResponseSize: 100_000)
            let error = await #expect(throws: ServiceError.self) {
                try await transport.send(server.request, body: nil)
            }
            #expect(error == .invalidResponse("the response has more than 100000 bytes; request smaller pages"))
        }

        private static let field = "X-More: " + String(repeating: "a", count: 1000) + "\r\n"

        @Test(
            "A head or trailers without an end are not read completely",
            arguments: [
                ("HTTP/1.1 200 OK\r\n", field),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n", field),
                ("", "HTTP/1.1 103 Early Hints\r\n" + field + "\r\n"),
            ])
        func endlessHead(_ begin: String, _ piece: String) async throws {
            let server = try EndlessServer(head: begin, piece: piece, isChunked: false)
            let error = await #expect(throws: ServiceError.self) {
                try await CurlTransport().send(server.request, body: nil)
            }
            #expect(
                error == .invalidResponse("the headers and trailers have more than \(ResponseSizeLimit.head) bytes"))
        }
    }

    /// JSON with more values than fit in memory.
    @Suite("Responses with many values")
    struct ManyValueTests {
        @Test(
            "The limit of values counts members and elements at any depth, and no text in strings",
            arguments: [
                ("[]", 0), ("{}", 0), ("1", 0), ("[1]", 1), ("[ 1 , 2 ]", 2), ("[[],[ ],{}]", 3),
                (#"{"a":{"b":[1,2]}}"#, 4),
                (#"["a,b","[{,",",\",,"]"#, 3), (#"{"a":[{"b":1},{"b":2}]}"#, 5), (#"["\\",1]"#, 2), ("[[[[[]]]]]", 4),
            ])
        func valueCount(_ text: String, _ count: Int) throws {
            // Only bodies with enough bytes are counted.
            let body = Data((text + String(repeating: " ", count: 20)).utf8)
            #expect(throws: Never.self) { try ResponseSizeLimit.checkValues(of: body, limit: count) }
            guard count > 0 else { return }
            #expect(
                throws: ServiceError.invalidResponse(
                    "the response has more than \(count - 1) values; request smaller pages")
            ) {
                try ResponseSizeLimit.checkValues(of: body, limit: count - 1)
            }
        }

        @Test("A pull with more values than the limit fails before they are parsed")
        func pullOverValueLimit() async throws {
            let text = "[" + String(repeating: "{},", count: ResponseSizeLimit.values) + "{}]"
            let service = RESTService(
                baseURL: try #require(URL(string: "https://service.example/v1")), transport: Fixed(text: text))
            await #expect(
                throws: ServiceError.invalidResponse(
                    "the response has more than \(ResponseSizeLimit.values) values; request smaller pages")
            ) {
                try await service.pull(PullRequest(entity: "Task", cursor: nil))
            }
        }

        private struct Fixed: HTTPTransport {
            let text: String

            func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
                (HTTPResponse(status: .ok), Data(text.utf8))
            }
        }
    }

    /// A server that answers each request with chunks without an end, as long as the client reads them.
    private final class EndlessServer: Sendable {
        private let socket: Int32
        private let port: UInt16

        init(
            head: String = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", piece: String,
            isChunked: Bool = true
        ) throws {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, length) == 0 && listen(socket, 5) == 0 && getsockname(socket, $0, &length) == 0
                }
            }
            try #require(isBound)
            (self.socket, port) = (socket, UInt16(bigEndian: address.sin_port))
            let size = String(piece.utf8.count, radix: 16)
            let chunk = isChunked ? "\(size)\r\n\(piece)\r\n" : piece
            Thread.detachNewThread { Self.serve(socket, head, chunk, isSlow: piece.utf8.count == 1) }
        }

        var request: HTTPRequest {
            HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        }

        private static func serve(_ socket: Int32, _ head: String, _ chunk: String, isSlow: Bool) {
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else { return }
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = recv(connection, &bytes, bytes.count, 0)
                var text = head.isEmpty ? chunk : head
                while send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL)) > 0 {
                    text = chunk
                    if isSlow { usleep(50_000) }
                }
                close(connection)
            }
        }

        deinit { shutdown(socket, Int32(SHUT_RDWR)) }
    }
#endif
