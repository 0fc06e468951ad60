import Testing

/// A curl command as browsers, tools and documentation write it, and the equivalent command line of the tool.
struct PastedCommand: CustomTestStringConvertible {
    var curl: String
    var afar: String

    init(_ curl: String, _ afar: String) { (self.curl, self.afar) = (curl, afar) }

    var testDescription: String { String(curl.prefix(60)) }

    // MARK: - Browsers and tools

    static let fromTools = [
        // Chrome, "Copy as cURL (bash)".
        PastedCommand(
            #"""
            curl 'https://www.example.com/api/items?page=2&sort=name' \
              -H 'accept: application/json, text/plain, */*' \
              -H 'accept-language: en-US,en;q=0.9' \
              -b 'session=abc; theme=dark' \
              -H 'priority: u=1, i' \
              -H 'sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"' \
              -H 'user-agent: Mozilla/5.0 (X11; Linux x86_64)'
            """#,
            """
            'https://www.example.com/api/items?page=2&sort=name' -H 'accept: application/json, text/plain, */*' \
            -H 'accept-language: en-US,en;q=0.9' -H 'priority: u=1, i' \
            -H 'sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"' -H 'user-agent: Mozilla/5.0 (X11; Linux x86_64)' \
            -b 'session=abc; theme=dark' --no-follow
            """),
        PastedCommand(
            #"""
            curl 'https://example.com/graphql' -X 'POST' \
              -H 'content-type: application/json' \
              --data-raw $'{"query":"query {\\n  a(b: \u0021true)\\n}","name":"it\'s \u00e9"}' \
              --compressed ;
            """#,
            #"""
            https://example.com/graphql -d '{"query":"query {\n  a(b: !true)\n}","name":"it'\''s é"}' \#
            -H 'content-type: application/json' --no-follow
            """#),
        PastedCommand(
            #"""
            curl 'https://example.com/upload' \
              -H 'content-type: multipart/form-data; boundary=----WebKitFormBoundaryx' \
              --data-raw $'------WebKitFormBoundaryx\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n------WebKitFormBoundaryx--\r\n'
            """#,
            """
            https://example.com/upload -d '------WebKitFormBoundaryx\r
            Content-Disposition: form-data; name="a"\r
            \r
            1\r
            ------WebKitFormBoundaryx--\r
            ' -H 'content-type: multipart/form-data; boundary=----WebKitFormBoundaryx' --no-follow
            """),
        PastedCommand(
            "curl --globoff 'https://example.com/a?filter[name]={x}' -H 'a: b'",
            "'https://example.com/a?filter[name]={x}' -H 'a: b' --no-follow"),
        PastedCommand(
            #"curl 'https://example.com/' --data-raw $'\uD83D\uDE00' --insecure"#,
            "https://example.com/ -d '\u{1F600}' --no-follow -k"),
        // Chrome, "Copy as cURL (cmd)".
        PastedCommand(
            #"""
            curl ^"https://example.com/a?b=c^&d=e^%^20f^" ^
              -H ^"accept: */*^" ^
              -H ^"content-type: application/json^" ^
              --data-raw ^"^{^\^"name^\^":^\^"a ^| b^\^"^}^"
            """#,
            """
            'https://example.com/a?b=c&d=e%20f' -d '{"name":"a | b"}' -H 'accept: */*' -H 'content-type: application/json' \
            --no-follow
            """),
        PastedCommand(
            "curl \"https://example.com/a?b=c&d=e\" ^\r\n  -H \"accept: */*\" ^\r\n  --data \"{\"\"a\"\":1}\" ^\r\n  --compressed",
            "'https://example.com/a?b=c&d=e' -d '{\"a\":1}' -H 'accept: */*' --no-follow"),
        PastedCommand(
            "curl ^\"https://example.com/^\" --data-raw ^\"a^\n\nb\\\\^\"",
            "https://example.com/ -d 'a\nb\\' --no-follow"),
        // Earlier versions of Chrome, with carets inside of quotes.
        PastedCommand(
            #"""
            curl "https://example.com/a?b=1^&c=e^%^20f^%^C3" ^
              -H "accept: */*" ^
              -H "sec-ch-ua: ^\^"Chrome^\^";v=^\^"100^\^"" ^
              --data-raw "^{^\^"name^\^":^\^"a ^| ^^ ^\^\b^\^"^}" ^
              --compressed
            """#,
            #"""
            'https://example.com/a?b=1&c=e%20f%C3' -d '{"name":"a | ^ \b"}' -H 'accept: */*' \#
            -H 'sec-ch-ua: "Chrome";v="100"' --no-follow
            """#),
        PastedCommand(
            #"curl "http://example.com/?x=1^&y=2" ^ --data-raw "^{^\^"a^\^":1^}""#,
            #"'http://example.com/?x=1&y=2' -d '{"a":1}' --no-follow"#),
        // Firefox, "Copy as cURL (POSIX)".
        PastedCommand(
            #"""
            curl 'https://example.com/login' --compressed -X POST -H 'User-Agent: Mozilla/5.0 (X11; rv:128.0) Gecko/20100101 Firefox/128.0' -H 'Accept-Language: en-US,en;q=0.5' -H 'Content-Type: application/x-www-form-urlencoded' -H 'Origin: https://example.com' -H 'Cookie: a=b' --data-raw 'user=ada&password=p%40ss'
            """#,
            """
            https://example.com/login -d 'user=ada&password=p%40ss' \
            -H 'User-Agent: Mozilla/5.0 (X11; rv:128.0) Gecko/20100101 Firefox/128.0' -H 'Accept-Language: en-US,en;q=0.5' \
            -H 'Content-Type: application/x-www-form-urlencoded' -H 'Origin: https://example.com' -H 'Cookie: a=b' --no-follow
            """),
        PastedCommand(
            #"curl 'https://example.com/' -X PUT --data-raw $'a\'b\nc'"#,
            "https://example.com/ -X PUT -d 'a'\\''b\nc' --no-follow"),
        // Safari.
        PastedCommand(
            #"""
            curl 'https://example.com/data.json' \
            -X 'GET' \
            -H 'Accept: */*' \
            -H 'Sec-Fetch-Site: same-origin'
            """#,
            "https://example.com/data.json -H 'Accept: */*' -H 'Sec-Fetch-Site: same-origin' --no-follow"),
        PastedCommand(
            "curl 'https://example.com/x' \\\n-X 'DELETE' \\\n-H ':authority: example.com' -H 'Content-Length: 0'",
            "https://example.com/x -X DELETE --no-follow"),
        // Postman.
        PastedCommand(
            #"""
            curl --location --request POST 'https://api.example.com/v1/users' \
            --header 'Authorization: Bearer abc' \
            --header 'Content-Type: application/json' \
            --data '{
                "name": "Ada"
            }'
            """#,
            """
            https://api.example.com/v1/users -d '{
                "name": "Ada"
            }' -H 'Authorization: Bearer abc' -H 'Content-Type: application/json'
            """),
        PastedCommand(
            #"""
            curl --location 'https://api.example.com/files' \
            --form 'file=@"/home/ada/a b.png"' \
            --form 'note="hello"'
            """#,
            #"https://api.example.com/files -F 'file=@"/home/ada/a b.png"' -F 'note="hello"'"#),
        PastedCommand(
            "curl --location --request GET 'https://api.example.com/v1/users?active=true' --data ''",
            "'https://api.example.com/v1/users?active=true' -X GET -d ''"),
        // Insomnia and HTTP Toolkit.
        PastedCommand(
            "curl --request PATCH --url https://api.example.com/a --header 'content-type: text/plain' --data 'x y'",
            "https://api.example.com/a -X PATCH -d 'x y' -H 'content-type: text/plain' --no-follow"),
    ]

    // MARK: - Documentation of APIs

    static let fromDocumentation = [
        PastedCommand(
            #"""
            $ curl https://api.example.com/v1/charges \
              -u sk_test_123: \
              -d amount=2000 \
              -d currency=usd \
              -d "metadata[order_id]"=6735
            """#,
            """
            https://api.example.com/v1/charges -d amount=2000 -d currency=usd -d 'metadata[order_id]=6735' -u sk_test_123: \
            --auth basic --no-follow
            """),
        PastedCommand(
            #"""
            curl -L \
              -H "Accept: application/vnd.github+json" \
              -H "Authorization: Bearer <YOUR-TOKEN>" \
              -H "X-GitHub-Api-Version: 2022-11-28" \
              https://api.github.com/repos/OWNER/REPO/issues
            """#,
            """
            https://api.github.com/repos/OWNER/REPO/issues -H 'Accept: application/vnd.github+json' \
            -H 'Authorization: Bearer <YOUR-TOKEN>' -H 'X-GitHub-Api-Version: 2022-11-28'
            """),
        PastedCommand(
            #"curl -X PUT "localhost:9200/index/_doc/1?pretty" -H 'Content-Type: application/json' -d'{"a":1}'"#,
            #"'http://localhost:9200/index/_doc/1?pretty' -X PUT -d '{"a":1}' -H 'Content-Type: application/json' --no-follow"#
        ),
        PastedCommand(
            "curl -XPOST localhost:9200/_bulk --data-binary @bulk.json -H 'Content-Type: application/x-ndjson'",
            "http://localhost:9200/_bulk --raw @bulk.json -H 'Content-Type: application/x-ndjson' --no-follow"),
        PastedCommand(
            "curl -sS --fail-with-body --json '{\"model\":\"m\"}' https://api.example.com/v1/x",
            """
            https://api.example.com/v1/x -d '{"model":"m"}' -H 'Content-Type: application/json' -H 'Accept: application/json' \
            --no-follow -s -S --fail-with-body
            """),
        PastedCommand("curl -I https://example.com", "https://example.com -I --no-follow"),
        PastedCommand("curl -sSLk https://example.com", "https://example.com -k -s -S"),
        PastedCommand("curl -fsSL https://example.com/install.sh", "https://example.com/install.sh -s -S -f"),
        PastedCommand(
            "curl --proto '=https' --tlsv1.2 -sSf https://sh.example.com", "https://sh.example.com --no-follow -s -S -f"
        ),
        PastedCommand("curl -LO https://example.com/a.tar.gz", "https://example.com/a.tar.gz -O"),
        PastedCommand("curl -Lo ./kind https://example.com/kind", "https://example.com/kind -o ./kind"),
        PastedCommand("curl -o a.bin -- https://example.com/a", "https://example.com/a --no-follow -o a.bin"),
        PastedCommand("curl https://example.com/a -oa.bin", "https://example.com/a --no-follow -o a.bin"),
        PastedCommand(
            "curl -O --output-dir /srv https://example.com/b.zip?x=1",
            "'https://example.com/b.zip?x=1' --no-follow -o /srv/b.zip"),
        PastedCommand("curl -u ada https://example.com", "https://example.com -u ada --auth basic --no-follow"),
        PastedCommand(
            "curl --digest -u ada:secret https://example.com",
            "https://example.com -u ada:secret --auth digest --no-follow"),
        PastedCommand("curl --anyauth -u a:b https://example.com", "https://example.com -u a:b --no-follow"),
        PastedCommand("curl --negotiate -u : https://example.com", "https://example.com --auth negotiate --no-follow"),
        PastedCommand(
            "curl --ntlm -u 'D\\a:b' https://example.com", "https://example.com -u 'D\\a:b' --auth ntlm --no-follow"),
        PastedCommand("curl --oauth2-bearer abc https://example.com", "https://example.com --bearer abc --no-follow"),
        PastedCommand("curl -n https://example.com", "https://example.com --netrc --no-follow"),
        PastedCommand("curl --netrc-file f https://example.com", "https://example.com --netrc-file f --no-follow"),
        PastedCommand("curl -b jar -c jar https://example.com", "https://example.com -c jar --no-follow"),
        PastedCommand("curl -b jar https://example.com", "https://example.com -b jar --no-follow"),
        PastedCommand("curl -b a=b -b c=d https://example.com", "https://example.com -b a=b -b c=d --no-follow"),
        PastedCommand("curl --http2 https://example.com", "https://example.com --http 2 --no-follow"),
        PastedCommand("curl --http1.1 --http3 https://example.com", "https://example.com --http 3 --no-follow"),
        PastedCommand("curl -N https://example.com/events", "https://example.com/events --no-follow --stream"),
        PastedCommand("curl --no-buffer https://example.com/events", "https://example.com/events --no-follow --stream"),
        PastedCommand(
            "curl -A '' -e https://a.example https://b.example",
            "https://b.example -H 'Referer: https://a.example' -A '' --no-follow"),
        PastedCommand("curl -r 0-99 https://example.com", "https://example.com -H 'Range: bytes=0-99' --no-follow"),
        PastedCommand(
            "curl -z 'Fri, 01 Mar 2024 12:00:00 GMT' https://example.com",
            "https://example.com -H 'If-Modified-Since: Fri, 01 Mar 2024 12:00:00 GMT' --no-follow"),
        PastedCommand("curl -D - example.com", "http://example.com --no-follow -i"),
        PastedCommand("curl -i -o /dev/null x.example", "http://x.example --no-follow -o /dev/null"),
        PastedCommand(
            "curl -sI -o /dev/null -w 1 x.example", "http://x.example -I --no-follow -s -w 1 -o /dev/null --body"),
        PastedCommand("curl -i -D - -o a x.example", "http://x.example --no-follow -i -o a"),
        PastedCommand(
            "curl -m 5 --connect-timeout 2.5 example.com", "http://example.com --no-follow -m 5 --connect-timeout 2.5"),
        PastedCommand(
            "curl --retry 3 --retry-delay 2 example.com", "http://example.com --no-follow --retry 3 --retry-delay 2"),
        PastedCommand(
            "curl --retry 3 --retry-all-errors -d a=1 example.com",
            "http://example.com -d a=1 --no-follow --retry 3 --retry-all"),
        PastedCommand("curl -L --max-redirs 3 example.com", "http://example.com --max-redirects 3"),
        PastedCommand("curl -w '\\n' example.com", "http://example.com --no-follow -w '\\n'"),
        PastedCommand(
            "curl -s -o /dev/null -w '%{http_code}' https://example.com",
            "https://example.com --no-follow -s -w '%{http_code}' -o /dev/null"),
    ]

    // MARK: - Data

    static let withData = [
        PastedCommand("curl -d a=1 -d b=2 x.example", "http://x.example -d a=1 -d b=2 --no-follow"),
        PastedCommand("curl -d '' x.example", "http://x.example -d '' --no-follow"),
        PastedCommand("curl -d @file x.example", "http://x.example -d @file --no-follow"),
        PastedCommand("curl -d @- x.example", "http://x.example -d @- --no-follow"),
        PastedCommand("curl --data-raw @file x.example", "http://x.example --data-raw @file --no-follow"),
        PastedCommand("curl --data-ascii a -XGET x.example", "http://x.example -X GET -d a --no-follow"),
        PastedCommand("curl --data-binary 'a\nb' x.example", "http://x.example -d 'a\nb' --no-follow"),
        PastedCommand(
            "curl --data-binary @f x.example",
            "http://x.example --raw @f -H 'Content-Type: application/x-www-form-urlencoded' --no-follow"),
        PastedCommand(
            "curl --data-binary @- x.example -H 'content-type: a/b'",
            "http://x.example --raw - -H 'content-type: a/b' --no-follow"),
        PastedCommand("curl --data-binary @f -d x x.example", "http://x.example -d 'text of f&x' --no-follow"),
        PastedCommand(
            "curl -d @a+b -d c --data-urlencode d x.example", "http://x.example -d 'text of a+b&c&d' --no-follow"),
        PastedCommand("curl --data-urlencode 'q=a b&c' x.example", "http://x.example -d q=a+b%26c --no-follow"),
        PastedCommand("curl --data-urlencode 'a b' x.example", "http://x.example -d a+b --no-follow"),
        PastedCommand("curl --data-urlencode '=a=b' x.example", "http://x.example -d a%3Db --no-follow"),
        PastedCommand("curl --data-urlencode @f x.example", "http://x.example -d text+of+f --no-follow"),
        PastedCommand("curl --data-urlencode n@f x.example", "http://x.example -d n=text+of+f --no-follow"),
        PastedCommand(
            "curl -G -d a=1 --data-urlencode 'b=ü' x.example", "http://x.example -G -d 'a=1&b=%C3%BC' --no-follow"),
        PastedCommand("curl -G -d a=1 -d b=2 x.example", "http://x.example -G -d a=1 -d b=2 --no-follow"),
        PastedCommand("curl -GI -d a=1 x.example", "http://x.example -I -G -d a=1 --no-follow"),
        PastedCommand(
            "curl --url-query 'a=b c' --url-query +d 'x.example/?e#f'",
            "'http://x.example/?e&a=b+c&d#f' --no-follow"),
        PastedCommand(
            "curl --json '{' --json '}' -H 'accept: a/b' x.example",
            "http://x.example -d '{}' -H 'Content-Type: application/json' -H 'accept: a/b' --no-follow"),
        PastedCommand(
            "curl --json @f x.example",
            "http://x.example --raw @f -H 'Content-Type: application/json' -H 'Accept: application/json' --no-follow"),
        PastedCommand(
            "curl -T a.txt x.example/", "http://x.example/a.txt -X PUT --raw @a.txt -H Content-Type: --no-follow"),
        PastedCommand(
            "curl -T - -X POST -H 'content-type: a/b' x.example",
            "http://x.example -X POST --raw - -H 'content-type: a/b' --no-follow"),
        PastedCommand(
            "curl -F a=1 -F 'b=@f;type=c/d' x.example", "http://x.example -F a=1 -F 'b=@f;type=c/d' --no-follow"),
        PastedCommand(
            #"curl --form-string 'a=@b;c"d\' x.example"#, #"http://x.example -F 'a="@b;c\"d\\"' --no-follow"#),
        PastedCommand("curl -XPOST -F a=1 x.example", "http://x.example -F a=1 --no-follow"),
    ]

    // MARK: - Networks

    static let withNetwork = [
        PastedCommand("curl -x proxy.example x.example", "http://x.example --no-follow -x http://proxy.example:1080"),
        PastedCommand("curl -x https://p.example x.example", "http://x.example --no-follow -x https://p.example:443"),
        PastedCommand(
            "curl -x p.example:3128 -U 'a b:c@d' x.example",
            "http://x.example --no-follow -x http://a%20b:c%40d@p.example:3128"),
        PastedCommand(
            "curl --socks5-hostname localhost:9 x.example", "http://x.example --no-follow -x socks5h://localhost:9"),
        PastedCommand("curl -x '' x.example", "http://x.example --no-follow --proxy none"),
        PastedCommand("curl --noproxy '*' x.example", "http://x.example --no-follow --proxy none"),
        PastedCommand("curl --noproxy .example,b a.example", "http://a.example --no-follow --proxy none"),
        PastedCommand("curl --noproxy other x.example", "http://x.example --no-follow"),
        PastedCommand(
            "curl --resolve x.example:443:192.0.2.1 https://x.example",
            "https://x.example --no-follow --connect-to x.example:443:192.0.2.1:443"),
        PastedCommand(
            "curl --resolve '*:443:::1' https://x.example",
            "https://x.example --no-follow --connect-to ':443:[::1]:443'"),
        PastedCommand(
            "curl --connect-to ::localhost:8080 x.example", "http://x.example --no-follow --connect-to ::localhost:8080"
        ),
        PastedCommand("curl --unix-socket /s http://x/a", "http://x/a --no-follow --unix-socket /s"),
        PastedCommand("curl --interface if!eth0 -4 x.example", "http://x.example --no-follow --interface eth0 -4"),
        PastedCommand(
            "curl --limit-rate 200K --doh-url https://d x.example",
            "http://x.example --no-follow --doh-url https://d --limit-rate 200K"),
        PastedCommand(
            "curl --cacert ca.pem --cert c.pem --key k.pem --pinnedpubkey 'sha256//a=;sha256//b=' https://x.example",
            "https://x.example --no-follow --cacert ca.pem --cert c.pem --key k.pem --pin sha256//a= --pin sha256//b="),
        PastedCommand("curl -E a.p12 --cert-type P12 https://x.example", "https://x.example --no-follow --cert a.p12"),
        PastedCommand("curl --tlsv1.3 https://x.example", "https://x.example --no-follow --tls-min 1.3"),
        PastedCommand("curl http://[::1]:80/a", "'http://[::1]:80/a' --no-follow"),
        PastedCommand(#"curl 'x.example/\[a\]'"#, "'http://x.example/[a]' --no-follow"),
        PastedCommand("/usr/bin/curl -v x.example # comment", "http://x.example --no-follow -v"),
        PastedCommand("curl 'x.example/a'\"b\"\\ c$'\\x64'", "'http://x.example/ab cd' --no-follow"),
    ]
}
