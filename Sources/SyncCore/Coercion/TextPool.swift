#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(ucrt)
    import ucrt
#else
    import Darwin
#endif

/// Where the texts and bytes of slots are: the payload, and the arena for those that are not verbatim in it.
package struct TextPool {
    package let payload: UnsafeBufferPointer<UInt8>
    package let arena: UnsafeBufferPointer<UInt8>

    package init(payload: UnsafeBufferPointer<UInt8>, arena: UnsafeBufferPointer<UInt8>) {
        self.payload = payload
        self.arena = arena
    }

    /// The bytes of a text or blob slot; empty for any other.
    @inline(__always)
    package func bytes(_ slot: Slot) -> UnsafeBufferPointer<UInt8> {
        switch slot.kind {
        case .payloadText: UnsafeBufferPointer(rebasing: payload[slot.offset..<slot.offset + Int(slot.length)])
        case .arenaText, .arenaBlob: UnsafeBufferPointer(rebasing: arena[slot.offset..<slot.offset + Int(slot.length)])
        default: UnsafeBufferPointer(start: nil, count: 0)
        }
    }

    /// A text of the payload, as it is spelled there.
    func payloadText(at offset: Int, length: Int) -> String {
        String(decoding: payload[offset..<offset + length], as: UTF8.self)
    }

    /// Whether two keys of the same type are the same key.
    @inline(__always)
    package func isSameKey(_ left: Slot, _ right: Slot) -> Bool {
        guard left.isText, right.isText else { return left.kind == right.kind && left.bits == right.bits }
        return left.length == right.length && TextPool.equal(bytes(left), bytes(right))
    }

    @inline(__always)
    package static func equal(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        guard let l = left.baseAddress, let r = right.baseAddress else { return true }
        return memcmp(l, r, left.count) == 0
    }

    /// Whether the bytes of a text come before those of another: the order of the database.
    @inline(__always)
    package static func precedes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let l = left.baseAddress, let r = right.baseAddress else { return left.count < right.count }
        let difference = memcmp(l, r, min(left.count, right.count))
        return difference == 0 ? left.count < right.count : difference < 0
    }

    /// A hash of a key, the same for equal keys whether their text is in the payload or in the arena. It is another one in each
    /// process: see ``KeySecret``.
    @inline(__always)
    package func hash(_ slot: Slot) -> UInt64 {
        slot.isText ? TextPool.hash(bytes(slot)) : TextPool.mix(slot.bits)
    }

    @inline(__always)
    package static func mix(_ value: UInt64) -> UInt64 { KeySecret.ofProcess.mix(value) }

    @inline(__always)
    package static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let secret = KeySecret.ofProcess
        var hash: UInt64 = 0
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index + 8 <= raw.count {
            hash = secret.mix(hash ^ raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        // The last bytes and the length: at most seven bytes are left, so neither hides the other.
        var tail = UInt64(truncatingIfNeeded: bytes.count)
        while index < raw.count {
            tail = tail << 8 | UInt64(raw[index])
            index += 1
        }
        return secret.mix(hash ^ tail)
    }
}
