/// Room for the tokens of one value, written one by one as they are read.
///
/// An array would ask at each of them whether it is shared. Access is checked against the room there is.
final class TokenBuffer {
    private var tokens: UnsafeMutablePointer<JSONTape.Token>
    private var capacity = 256

    init() { tokens = .allocate(capacity: capacity) }

    deinit { tokens.deallocate() }

    @inline(__always)
    subscript(index: Int) -> JSONTape.Token {
        get {
            precondition(index >= 0 && index < capacity)
            return tokens[index]
        }
        set {
            precondition(index >= 0 && index < capacity)
            tokens[index] = newValue
        }
    }

    /// Makes room for so many tokens.
    @inline(__always)
    func reserve(_ count: Int) {
        if count > capacity { grow(to: count) }
    }

    private func grow(to count: Int) {
        let larger = UnsafeMutablePointer<JSONTape.Token>.allocate(capacity: max(count, capacity * 2))
        larger.update(from: tokens, count: capacity)
        tokens.deallocate()
        tokens = larger
        capacity = max(count, capacity * 2)
    }

    func first(_ count: Int) -> UnsafeBufferPointer<JSONTape.Token> {
        UnsafeBufferPointer(start: tokens, count: min(count, capacity))
    }
}
