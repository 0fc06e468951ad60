/// An option of the curl command.
struct CurlOption: Equatable {
    /// The long name, without "--" and "no-".
    let name: String
    /// The short name, without "-".
    let short: Character?
    let takesValue: Bool

    /// The options of curl 8 and earlier versions, by long name.
    ///
    /// The arity of each option must be correct. Otherwise, the arguments that follow it would have another meaning.
    private static let byName: [String: CurlOption] = {
        var options: [String: CurlOption] = [:]
        for (words, takesValue) in [(flagNames, false), (valueNames, true)] {
            for word in words.split(whereSeparator: \.isWhitespace) {
                let parts = word.split(separator: "/")
                let name = String(parts[0])
                let short = parts.count > 1 ? parts[1].first : nil
                options[name] = CurlOption(name: name, short: short, takesValue: takesValue)
            }
        }
        return options
    }()

    static var all: [CurlOption] { Array(byName.values) }

    private static let byShortName = Dictionary(
        byName.values.compactMap { option in option.short.map { ($0, option) } },
        uniquingKeysWith: { first, _ in first })

    /// Returns the option with a one-letter name.
    static func named(_ short: Character) -> CurlOption? { byShortName[short] }

    /// The result of looking up a long name.
    enum LongName: Equatable {
        case option(CurlOption, isOn: Bool)
        case ambiguous([String])
        case unknown
    }

    /// Looks up a long name, which can begin with "no-". Like curl, accepts the unambiguous beginning of a name.
    static func named(long name: String) -> LongName {
        if let option = byName[name] { return .option(option, isOn: true) }
        if name.hasPrefix("no-"), let option = byName[String(name.dropFirst(3))], !option.takesValue {
            return .option(option, isOn: false)
        }
        guard !name.isEmpty else { return .unknown }
        let candidates = byName.keys.filter { $0.hasPrefix(name) }.sorted()
        if candidates.count == 1, let option = byName[candidates[0]] { return .option(option, isOn: true) }
        return candidates.isEmpty ? .unknown : .ambiguous(candidates.map { "--\($0)" })
    }

    // Each word is a long name, followed by the short name, if any. A flag's name is without "no-": --no-buffer is listed as buffer.
    private static let flagNames = """
        anyauth append/a basic ca-native cert-status compressed compressed-ssh create-dirs crlf digest disable/q disable-eprt
        disable-epsv disallow-username-in-url doh-cert-status doh-insecure dump-ca-embed eprt epsv fail/f fail-early
        fail-with-body false-start follow form-escape ftp-create-dirs ftp-pasv ftp-pret ftp-skip-pasv-ip ftp-ssl ftp-ssl-ccc
        ftp-ssl-control ftp-ssl-reqd get/G globoff/g haproxy-protocol head/I http0.9 http1.0/0 http1.1 http2
        http2-prior-knowledge http3 http3-only ignore-content-length include/i insecure/k ipv4/4 ipv6/6
        junk-session-cookies/j list-only/l location/L location-trusted mail-rcpt-allowfails manual/M metalink mptcp negotiate
        netrc/n netrc-optional next/: alpn buffer/N clobber keepalive npn progress-meter sessionid ntlm ntlm-wb out-null
        parallel/Z parallel-immediate path-as-is post301 post302 post303 progress-bar/# proxy-anyauth proxy-basic
        proxy-ca-native proxy-digest proxy-http2 proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast
        proxy-ssl-auto-client-cert proxy-tlsv1 proxytunnel/p raw remote-header-name/J remote-name/O remote-name-all
        remote-time/R remove-on-error retry-all-errors retry-connrefused sasl-ir show-error/S silent/s skip-existing
        socks5-basic socks5-gssapi socks5-gssapi-nec ssl ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-reqd
        ssl-revoke-best-effort sslv2/2 sslv3/3 styled-output suppress-connect-headers tcp-fastopen tcp-nodelay tftp-no-options
        tls-earlydata tlsv1/1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-ids trace-time use-ascii/B verbose/v version/V
        xattr
        """

    private static let valueNames = """
        abstract-unix-socket alt-svc aws-sigv4 cacert capath cert/E cert-type ciphers config/K connect-timeout connect-to
        continue-at/C cookie/b cookie-jar/c create-file-mode crlfile curves data/d data-ascii data-binary data-raw
        data-urlencode delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header/D ech egd-file
        engine etag-compare etag-save expect100-timeout form/F form-string ftp-account ftp-alternative-to-user ftp-method
        ftp-port/P ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip header/H help/h hostpubmd5 hostpubsha256 hsts
        interface ip-tos ipfs-gateway json keepalive-cnt keepalive-time key key-type knownhosts krb libcurl limit-rate
        local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs max-time/m netrc-file noproxy
        oauth2-bearer output/o output-dir parallel-max parallel-max-host pass pinnedpubkey preproxy proto proto-default
        proto-redir proxy/x proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header
        proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype
        proxy-tlspassword proxy-tlsuser proxy-user/U proxy1.0 pubkey quote/Q random-file range/r rate referer/e request/X
        request-target resolve retry retry-delay retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5
        socks5-gssapi-service socks5-hostname speed-limit/Y speed-time/y ssl-sessions stderr telnet-option/t tftp-blksize
        time-cond/z tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket
        upload-file/T upload-flags url url-query user/u user-agent/A variable vlan-priority write-out/w
        """
}

extension CurlOption {
    /// The options that curl sets unless the command turns them off.
    private static let setByDefault: Set = ["clobber", "sessionid"]

    /// Returns whether setting an option changes what curl does.
    func isChanged(to isOn: Bool) -> Bool { isOn != Self.setByDefault.contains(name) }

    /// Why an option can be left out without an effect: `afar` always does the same, or the option doesn't change HTTP requests.
    static let unneeded = reasons([
        "responses are decompressed by default": "compressed",
        "afar curl uses no default options": "disable",
        "afar always stops at the first failure": "fail-early",
        "afar shows no progress here": "progress-meter",
        "refused connections are always retried": "retry-connrefused",
        "curl's default, too": "proxy-basic socks5-basic",
        "no effect on HTTP in afar": """
        ca-native egd-file expect100-timeout keepalive npn random-file styled-output suppress-connect-headers tcp-nodelay \
        use-ascii
        """,
        "for Windows only": """
        proxy-ssl-auto-client-cert ssl-auto-client-cert ssl-no-revoke ssl-revoke-best-effort
        """,
        "for old TLS versions only": "proxy-ssl-allow-beast ssl-allow-beast proxy-tlsv1 tlsv1 tlsv1.2",
        "for other protocols than HTTP": """
        append compressed-ssh disable-eprt disable-epsv eprt epsv ftp-account ftp-alternative-to-user ftp-create-dirs \
        ftp-method ftp-pasv ftp-port ftp-pret ftp-skip-pasv-ip ftp-ssl ftp-ssl-ccc ftp-ssl-ccc-mode ftp-ssl-control \
        ftp-ssl-reqd hostpubmd5 hostpubsha256 ipfs-gateway knownhosts krb list-only login-options mail-auth mail-from \
        mail-rcpt mail-rcpt-allowfails pubkey quote sasl-authzid sasl-ir ssl ssl-reqd telnet-option tftp-blksize \
        tftp-no-options upload-flags
        """,
    ])

    /// Why an option is ignored, although it has an effect in curl.
    static let ignored = reasons([
        "names are escaped as in browsers": "form-escape",
        "responses of HTTP/0.9 are refused": "http0.9",
        "requests are sent one after another": "parallel parallel-immediate parallel-max parallel-max-host",
        "afar download shows the progress": "progress-bar",
        "the time of the file isn't changed": "remote-time",
        "the part of a file that arrived is kept; afar download removes it": "remove-on-error",
        "no attributes are stored": "xattr",
        "TLS 1.2 is the oldest supported version": "tlsv1.0 tlsv1.1",
        "afar doesn't have this feature": """
        alt-svc false-start happy-eyeballs-timeout-ms keepalive-cnt mptcp sessionid ssl-sessions tcp-fastopen tls-earlydata \
        tr-encoding trace-ids trace-time
        """,
    ])

    /// Why an option can't be translated, and what to do instead.
    static let refused = reasons([
        "addresses of DNS servers aren't supported; use --doh-url": """
        dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers
        """,
        "the server for --doh-url is verified like all others": "doh-cert-status doh-insecure",
        "cipher suites and TLS extensions can't be chosen": """
        ciphers curves sigalgs tls13-ciphers proxy-ciphers proxy-tls13-ciphers engine
        """,
        "TLS 1.2 is the oldest supported version": "sslv2 sslv3",
        "user names and passwords in TLS aren't supported": """
        tlsauthtype tlspassword tlsuser proxy-tlsauthtype proxy-tlspassword proxy-tlsuser
        """,
        "use --timeout": "speed-limit speed-time",
        "afar logs in to proxies with basic authentication": """
        proxy-anyauth proxy-digest proxy-negotiate proxy-ntlm proxy-service-name socks5-gssapi socks5-gssapi-nec \
        socks5-gssapi-service
        """,
        "a proxy is verified like a server, and no other fields are sent to it": """
        proxy-ca-native proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-crlfile proxy-header proxy-http2 \
        proxy-insecure proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey
        """,
        "fields of network packets can't be chosen": "ip-tos vlan-priority",
        "the mode of a file is the one of the system": "create-file-mode",
        "afar connects only to sockets with a path, with --unix-socket": "abstract-unix-socket",
        "afar can't sign requests; the library does, with AfarSignatures": "aws-sigv4",
        "put the certificates in one file, and use --cacert": "capath",
        "the stapled status isn't required; afar trust shows it": "cert-status",
        "an existing file is replaced; use afar download": "clobber skip-existing",
        "write its options on the command line": "config",
        "use afar download URL --resume": "continue-at",
        "convert the file before": "crlf",
        "revocation lists aren't supported": "crlfile",
        "Kerberos tickets aren't delegated": "delegation",
        "use afar trust --pem": "dump-ca-embed",
        "encrypted client hellos aren't supported": "ech",
        "use --cache FOLDER": "etag-compare etag-save",
        "write -L, which follows redirects with the method that HTTP defines": "follow",
        "the PROXY protocol isn't supported": "haproxy-clientip haproxy-protocol",
        "use afar --help": "help",
        "write https in the URL": "hsts",
        "afar sends HTTP/1.1, 2 and 3": "http1.0",
        "use an https URL and --http 2": "http2-prior-knowledge",
        "the length of a response is always checked": "ignore-content-length",
        "remove them from the file": "junk-session-cookies",
        "afar writes no code": "libcurl",
        "the system chooses the port": "local-port",
        "credentials aren't sent to other hosts; send the second request yourself": "location-trusted",
        "use man afar": "manual",
        "the size of a response has no limit": "max-filesize",
        "request the file's own URL": "metalink",
        "write a second command": "next",
        "use -o /dev/null": "out-null",
        "write it to a file, and use --passphrase-file FILE, because other users see the arguments of a process":
            "pass",
        "redirects with 301 change POST to GET; send the second request yourself": "post301",
        "redirects with 302 change POST to GET; send the second request yourself": "post302",
        "redirects with 303 change POST to GET; send the second request yourself": "post303",
        "afar uses one proxy, with --proxy": "preproxy",
        "proxies must use HTTP/1.1; use --proxy": "proxy1.0",
        "afar sends its requests at once; --limit-rate limits the bytes per second": "rate",
        "transfer codings are always decoded": "raw",
        "the target is always the URL's path and query": "request-target",
        "--timeout limits each attempt, and --retry the number of attempts": "retry-max-time",
        "the service name is always HTTP": "service-name",
        "use a proxy with SOCKS 5: --proxy socks5://HOST:PORT": "socks4",
        "use a proxy with SOCKS 5: --proxy socks5h://HOST:PORT": "socks4a",
        "redirect it in the shell: 2> FILE": "stderr",
        "afar uses TLS 1.2 and 1.3": "tls-max",
        "use -v, or --har FILE": "trace trace-ascii trace-config",
        "use variables of the shell": "variable",
        "use afar --version": "version",
    ])

    /// Returns the reason for each option.
    ///
    /// - Parameter names: The names of the options for each reason, separated by white space.
    private static func reasons(_ names: KeyValuePairs<String, String>) -> [String: String] {
        var reasons: [String: String] = [:]
        for (reason, names) in names {
            for name in names.split(whereSeparator: \.isWhitespace) { reasons[String(name)] = reason }
        }
        return reasons
    }
}
