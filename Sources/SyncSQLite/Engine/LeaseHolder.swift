import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Which process holds a lease: `host pid name`, so that one that died is not waited for.
struct LeaseHolder {
    let text: String

    init(_ text: String) { self.text = text }

    /// One run of this process.
    init(name: String) {
        text = "\(Self.host) \(ProcessInfo.processInfo.processIdentifier) \(name)"
    }

    private static let host = ProcessInfo.processInfo.hostName.replacingOccurrences(of: " ", with: "-")

    /// Whether it is known to be dead: of this machine, and no process there has its number. Another one may have taken
    /// that, which is then waited for until the lease is over.
    var isDead: Bool {
        #if os(Windows)
            return false
        #else
            let parts = text.split(separator: " ")
            guard parts.count == 3, parts[0] == Self.host, let id = Int32(parts[1]), id > 0 else { return false }
            return kill(id, 0) != 0 && errno == ESRCH
        #endif
    }
}
