public import SyncCore

extension SyncError {
    /// Fails unless the error has a message and a location that exists in the input.
    public func requirePlace(in input: UnsafeBufferPointer<UInt8>) {
        require(!message.isEmpty, "an error without a message")
        switch code {
        case .malformedJSON, .invalidUTF8, .nestingTooDeep:
            guard let line, let column else { fail("\(self): without a place") }
            let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
            require(lines.indices.contains(line - 1), "\(self): the input has \(lines.count) lines")
            require(1...lines[line - 1].count + 1 ~= column, "\(self): the line has \(lines[line - 1].count) bytes")
        case .recordExpected, .keyPathNotFound, .typeMismatch, .inconsistentRecords, .primaryKeyMissing:
            require(path?.isEmpty == false, "\(self): without a path")
        case .noRecords: break
        default:
            fail("\(self): not an error of a payload")
        }
    }
}
