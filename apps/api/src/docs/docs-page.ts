/** The docs page. Its paths are relative, so that it works under any path of a proxy. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Item Listing Service</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/page.js"></script>
  </body>
</html>
`;

/** The script that shows the document. */
export class PageScript {
  readonly text: string;

  /** @param canTry whether the page can send requests */
  constructor(canTry: boolean) {
    const options = {
      url: 'openapi.json',
      dom_id: '#swagger-ui',
      deepLinking: true,
      // By default, validator.swagger.io validates the document.
      validatorUrl: null,
      ...(canTry ? {} : { supportedSubmitMethods: [] }),
    };
    this.text = `SwaggerUIBundle(${JSON.stringify(options)});\n`;
  }
}
