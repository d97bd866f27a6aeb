import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A port of the loopback interface that accepts connections and does not answer, or that refuses connections.
final class QuietPort: Sendable {
    let url: URL
    private let descriptor: Int32

    /// - Parameter isRefusing: Whether connections are refused. The port stays reserved, so that no other process uses
    ///   it.
    init(isRefusing: Bool) throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard descriptor >= 0, isBound, isRefusing || listen(descriptor, 16) == 0,
            let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
        else { throw ServerFailure(text: "there is no free port") }
        self.url = url
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Waits for a client to connect, which then waits for an answer, or for ``giveUp()``.
    func connection() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            DispatchQueue.global().async { [descriptor] in
                _ = accept(descriptor, nil, nil)
                continuation.resume()
            }
        }
    }

    /// Ends the wait for a connection.
    func giveUp() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}
