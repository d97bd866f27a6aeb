#if !(os(Linux) && canImport(Glibc))
    public import Foundation
    public import HTTPTypes

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Requests by Foundation's `URLSession`.
    public struct URLSessionTransport: HTTPTransport {
        private let session: URLSession

        /// Requests by a session without cache and cookies.
        ///
        /// - Parameter timeout: How long to wait for an answer that does not come.
        public init(timeout: Duration = .seconds(60)) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.urlCache = nil
            configuration.httpShouldSetCookies = false
            configuration.timeoutIntervalForRequest = timeout.seconds
            session = URLSession(configuration: configuration)
        }

        /// Sends a request once.
        public func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
            guard let url = URL(string: request.address) else {
                throw ServiceFailure.malformed("the address of the request is none")
            }
            var urlRequest = URLRequest(url: url)
            urlRequest.httpMethod = request.method.rawValue
            for field in request.headerFields {
                urlRequest.addValue(field.value, forHTTPHeaderField: field.name.rawName)
            }
            urlRequest.httpBody = body
            do {
                let (data, response) = try await session.data(for: urlRequest)
                guard let answer = response as? HTTPURLResponse else {
                    throw ServiceFailure.malformed("the answer is not of HTTP")
                }
                var fields = HTTPFields()
                for (key, value) in answer.allHeaderFields {
                    guard let key = key as? String, let name = HTTPField.Name(key), let value = value as? String else {
                        continue
                    }
                    fields[name] = value
                }
                return (HTTPResponse(status: .init(code: answer.statusCode), headerFields: fields), data)
            } catch let error as URLError where error.code == .cancelled {
                throw CancellationError()
            }
        }
    }
#endif
