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

/// The holder of a lease, as the text `host pid name`. If its process is known to be dead, another engine run may take
/// the lease before it expires.
struct LeaseHolder {
    let text: String

    init(_ text: String) { self.text = text }

    /// Creates the holder for one engine run of this process.
    init(name: String) {
        text = "\(Self.host) \(ProcessInfo.processInfo.processIdentifier) \(name)"
    }

    private static let host = ProcessInfo.processInfo.hostName.replacingOccurrences(of: " ", with: "-")

    /// Whether the process is known to be dead: it ran on this machine, and no process has its ID any more.
    ///
    /// If a new process has the ID, the value is false, and the lease must expire. On Windows the value is always
    /// false.
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
