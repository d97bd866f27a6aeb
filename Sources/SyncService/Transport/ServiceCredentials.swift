public import HTTPTypes

/// Where the header fields come from that say who the user is. They are asked for once, and again after a 401; never
/// logged, never stored.
public struct ServiceCredentials: Sendable {
    let fields: @Sendable (_ isRefresh: Bool) async throws -> [HTTPField.Name: String]

    /// - Parameter fields: Gives the header fields; `isRefresh` after the service refused those given before.
    public init(_ fields: @escaping @Sendable (_ isRefresh: Bool) async throws -> [HTTPField.Name: String]) {
        self.fields = fields
    }

    /// No credentials.
    public static let none = ServiceCredentials { _ in [:] }

    /// The value of `Authorization`, asked for again after the service refused it.
    public static func authorization(
        _ value: @escaping @Sendable (_ isRefresh: Bool) async throws -> String
    ) -> ServiceCredentials {
        ServiceCredentials { [.authorization: try await value($0)] }
    }

    /// The value of another header, asked for again after the service refused it.
    public static func header(
        _ name: String, _ value: @escaping @Sendable (_ isRefresh: Bool) async throws -> String
    ) -> ServiceCredentials {
        ServiceCredentials { isRefresh in
            guard let name = HTTPField.Name(name) else {
                throw ServiceFailure.unauthorized("'\(name)' is no name of a header")
            }
            return [name: try await value(isRefresh)]
        }
    }

    /// The same `Authorization` always.
    public static func authorization(_ value: String) -> ServiceCredentials {
        ServiceCredentials { _ in [.authorization: value] }
    }
}

/// The credentials in use, shared by the requests of a service.
actor CredentialCache {
    private let credentials: ServiceCredentials
    private var current: [HTTPField.Name: String]?
    private var generation = 0

    init(_ credentials: ServiceCredentials) { self.credentials = credentials }

    func fields() async throws -> (fields: [HTTPField.Name: String], generation: Int) {
        if let current { return (current, generation) }
        let fields = try await credentials.fields(false)
        current = fields
        return (fields, generation)
    }

    /// Other fields than those of a generation: of several requests that were refused the first asks for them.
    func refreshed(after used: Int) async throws -> [HTTPField.Name: String] {
        if used == generation || current == nil {
            let fields = try await credentials.fields(true)
            if used == generation {
                current = fields
                generation += 1
            }
        }
        return current ?? [:]
    }
}
