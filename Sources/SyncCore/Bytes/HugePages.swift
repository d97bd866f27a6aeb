#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Memory in pages of 2 MB: what is written once and read out of order waits less for the first touch of each page, and
/// for finding it again.
package enum HugePages {
    /// The size of a huge page, and how memory must be aligned to be one.
    package static let size = 1 << 21

    /// Asks the system to use huge pages for those that lie wholly in a range of memory nobody has touched yet. Where it
    /// cannot, nothing changes.
    package static func advise(_ start: UnsafeRawPointer, byteCount: Int) {
        #if os(Linux)
            let first = (UInt(bitPattern: start) + UInt(size - 1)) & ~UInt(size - 1)
            let end = (UInt(bitPattern: start) + UInt(byteCount)) & ~UInt(size - 1)
            guard end > first, let address = UnsafeMutableRawPointer(bitPattern: first) else { return }
            madvise(address, Int(end - first), MADV_HUGEPAGE)
        #endif
    }
}

extension Array {
    /// Makes room for so many elements, in huge pages if that is much.
    mutating func reserve(_ count: Int) {
        guard count > capacity else { return }
        reserveCapacity(count)
        let room = capacity * MemoryLayout<Element>.stride
        withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            HugePages.advise(base, byteCount: room)
        }
    }
}
