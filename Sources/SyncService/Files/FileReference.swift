public import Foundation

/// Where a service has a file, whose bytes never change: another file has another reference.
public struct FileReference: Sendable, Hashable {
    /// The address, of the service itself.
    public let url: URL

    /// A file at an address.
    public init(_ url: URL) { self.url = url }
}
