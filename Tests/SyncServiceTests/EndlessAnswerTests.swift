#if os(Linux) && canImport(Glibc)
    import Foundation
    import Glibc
    import HTTPTypes
    import Testing

    @testable import SyncService

    /// Answers that do not end.
    @Suite("Answers without an end")
    struct EndlessAnswerTests {
        @Test("An answer that goes on and on is given up, though something comes all the time")
        func dripping() async throws {
            let server = try EndlessServer(piece: " ")
            let transport = CurlTransport(timeout: .seconds(60), total: .seconds(1))
            let error = await #expect(throws: ServiceFailure.self) {
                try await transport.send(server.request, body: nil)
            }
            var isUnreachable = false
            if case .unreachable? = error { isUnreachable = true }
            #expect(isUnreachable, "\(String(describing: error))")
        }

        @Test("An answer that is larger than allowed is not gathered")
        func large() async throws {
            let server = try EndlessServer(piece: String(repeating: " ", count: 4096))
            let transport = CurlTransport(answerLimit: 100_000)
            let error = await #expect(throws: ServiceFailure.self) {
                try await transport.send(server.request, body: nil)
            }
            #expect(error == .malformed("it has more than 100000 bytes: ask for smaller pages"))
        }
    }

    /// A server that answers each request with pieces without an end, as long as somebody takes them.
    private final class EndlessServer: Sendable {
        private let socket: Int32
        private let port: UInt16

        init(piece: String) throws {
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
            Thread.detachNewThread { Self.serve(socket, piece) }
        }

        var request: HTTPRequest {
            HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        }

        private static func serve(_ socket: Int32, _ piece: String) {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            let chunk = String(piece.utf8.count, radix: 16) + "\r\n" + piece + "\r\n"
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else { return }
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = recv(connection, &bytes, bytes.count, 0)
                var text = head
                while send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL)) > 0 {
                    text = chunk
                    if piece.utf8.count == 1 { usleep(50_000) }
                }
                close(connection)
            }
        }

        deinit { shutdown(socket, Int32(SHUT_RDWR)) }
    }
#endif
